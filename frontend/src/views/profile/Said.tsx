/** What the allocator itself said: its peak of stack + heap, and what there was then. */

import type { AllocatorSaid, Device } from "../../api";
import { Fact, Size } from "../../components/Fact";
import { bytes, exactBytes, share } from "../../format";
import { momentWords } from "../../state/moment";
import { cursor } from "../../state/view";
import { FREE_LIST } from "../../timeline/height";

export function Said({ device }: { device: Device }) {
  const said = device.allocator;
  // A peak alone says no more than the curve does.
  if (said === null || device.areas.length === 0) return null;
  return (
    <>
      <Peak said={said} />
      <Area label="Stack then" value={said.stack} what="kept for the stack of programs" />
      <Area label="Heap then" value={said.heap} what="allocated on the heap" />
      {device.areas.includes("free") && (
        <Area label="Free then" value={said.free} what="free" note={capacityOf(device)} />
      )}
      <Fragmented said={said} />
    </>
  );
}

const capacityOf = ({ capacity }: Device): string | null =>
  capacity === null ? null : `of ${bytes(capacity)}`;

function Peak({ said }: { said: AllocatorSaid }) {
  const toPeak = (
    <button type="button" class="link" onClick={() => (cursor.value = said.event)}>
      {momentWords(said)}
    </button>
  );
  const name = said.stack === null ? "heap" : "stack + heap";
  return (
    <Fact
      label={`Peak ${name}`}
      title={`${exactBytes(said.peak)}: the most of ${name} in the window, as the allocator reports it`}
      exact={said.peak}
      note={toPeak}
    >
      <Size value={said.peak} />
    </Fact>
  );
}

interface AreaProperties {
  label: string;
  value: number | null;
  what: string;
  note?: string | null;
}

function Area({ label, value, what, note }: AreaProperties) {
  if (value === null) return null;
  return (
    <Fact
      label={label}
      title={`${exactBytes(value)} ${what} at the peak of stack + heap`}
      exact={value}
      note={note}
    >
      <Size value={value} />
    </Fact>
  );
}

function Fragmented({ said }: { said: AllocatorSaid }) {
  if (said.fragmentation === null) return null;
  return (
    <Fact
      label="Free list fragmentation"
      title={`${FREE_LIST} = ${said.fragmentation}, as the allocator reports it at that peak`}
    >
      {share(said.fragmentation, 1)}
    </Fact>
  );
}
