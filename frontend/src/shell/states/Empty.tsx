/** Nothing to show yet: how to record, or what can be dropped. */

import { Code } from "../../components/Code";
import { sourceList } from "../../state/recording";
import { fileChooser } from "../DropZone";

const RECORD = `from tb_memory_plugin import MemoryWriter

with MemoryWriter("runs/my-run") as memory:
    for batch in loader:
        train(batch)
        memory.step()`;

const SNAPSHOT = `import torch

torch.cuda.memory._record_memory_history()
# … train a few steps …
torch.cuda.memory._dump_snapshot("runs/my-run/snapshot.pickle")`;

export function Empty() {
  const list = sourceList.value;
  const places = list?.logdirs.join(", ");
  return (
    <section class="state" aria-labelledby="empty-title">
      <h1 id="empty-title">No memory recordings yet</h1>
      <p>
        {list?.scanning ? "Still looking in " : "Nothing that holds memory data was found in "}
        {places ? <code>{places}</code> : "the logdir"}. New files show up here by themselves.
      </p>
      <h2>Record a training run, on any device</h2>
      <Code text={RECORD} label="the recording example" />
      <h2>Or keep what PyTorch can already write, on GPUs</h2>
      <Code text={SNAPSHOT} label="the snapshot example" />
      <h2>Or look at a file that you have</h2>
      <p>
        Drop it anywhere on this page, or{" "}
        <button type="button" class="link" onClick={fileChooser}>
          open a file …
        </button>
      </p>
    </section>
  );
}

/** The list is there, and the reader has to choose: nothing small enough to open by itself. */
export function Choose() {
  return (
    <section class="state">
      <h1>Choose a recording</h1>
      <p>
        The recordings found are large or could not be read, so none was opened by itself. Choose
        one in the list.
      </p>
    </section>
  );
}

export function Scanning() {
  const places = sourceList.value?.logdirs.join(", ");
  return (
    <section class="state" aria-busy="true">
      <h1>Looking for recordings …</h1>
      {places && (
        <p class="quiet">
          in <code>{places}</code>
        </p>
      )}
      <progress aria-label="Looking for recordings" />
    </section>
  );
}

/** A link that means a source which is not here. */
export function NotHere({ run, name }: { run: string; name: string }) {
  const scanning = sourceList.value?.scanning;
  return (
    <section class="state" aria-busy={scanning}>
      <h1>
        {scanning ? "Looking for the recording of this link …" : "This recording is not here"}
      </h1>
      <p>
        The link points to <code>{name}</code>
        {run && run !== "." && (
          <>
            {" "}
            of run <code>{run}</code>
          </>
        )}
        {scanning
          ? "."
          : ", which is not under this TensorBoard's logdir (any more). Choose another one in the list."}
      </p>
      {scanning && <progress aria-label="Looking for the recording" />}
    </section>
  );
}
