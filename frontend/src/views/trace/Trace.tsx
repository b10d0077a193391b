/** The Trace view: panels one below the other on one axis of time. */

import { useEffect, useMemo } from "preact/hooks";
import { NoDevice } from "../../components/NoDevice";
import { Notes } from "../../components/Notes";
import { counted } from "../../format";
import { Offers } from "../../pairs/Offers";
import { Paired } from "../../pairs/Paired";
import { device, hasHistory, hasTime } from "../../state";
import "../../timeline/timeline.css";
import "../../picture/picture.css";
import "../../pairs/pairs.css";
import "./trace.css";
import "./lanes/lanes.css";
import "./arrows/arrows.css";
import { Lower } from "./lower/Lower";
import "./lower/lower.css";
import "../../tables/lists/lists.css";
import "./marks/marks.css";
import { createModel, type Model } from "./model";
import { Panels } from "./Panels";
import { Tools } from "./tools/Tools";
import "./tools/tools.css";

export function Trace() {
  if (device.value === null) return <NoDevice />;
  if (!hasHistory.value) {
    return (
      <Nothing
        title="This recording holds one moment only"
        why="It says what was alive at its end, but has no history that could stand beside what the program did."
      />
    );
  }
  if (!hasTime.value) {
    return (
      <Nothing
        title="This recording has no time stamps"
        why="Events of memory are in order, but nobody knows when they happened, so nothing can be placed beside them. Record with a profiler, or take snapshots with PyTorch 2.1 or newer."
      />
    );
  }
  return <Shown key={device.value.key} />;
}

function Nothing({ title, why }: { title: string; why: string }) {
  return (
    <section class="state" data-testid="trace-empty">
      <h1>{title}</h1>
      {why === "" ? null : <p>{why}</p>}
      <Notes />
    </section>
  );
}

function Shown() {
  const model = useMemo(createModel, []);
  useEffect(() => model.dispose, [model]);
  return (
    <div class="trace">
      <Tools model={model} />
      <Paired />
      <Offers />
      <Said model={model} />
      <Panels model={model} />
      <Lower model={model} />
    </div>
  );
}

/** What is to be said of the trace: why it could not be had, what is not in it, how to read it. */
function Said({ model }: { model: Model }) {
  const [trace, failure] = [model.trace.value, model.failure.value];
  if (failure !== null) {
    return (
      <p class="danger" role="alert">
        {failure}
      </p>
    );
  }
  if (trace === null) return null;
  if (trace.tracks.length === 0) {
    return (
      <p class="quiet" role="note" data-testid="trace-nothing">
        This recording does not say what the program did. Profiler traces, XPlanes and exports of
        Nsight Systems do, and so does what MemoryWriter records; a snapshot does together with a
        trace of the same process.
      </p>
    );
  }
  const more = trace.hidden > 0 ? [`${counted(trace.hidden, "track")} more are not listed.`] : [];
  return (
    <>
      {[...trace.notes, ...more].map((note) => (
        <p class="quiet small" role="note" key={note}>
          {note}
        </p>
      ))}
    </>
  );
}
