/** The Trace view: panels one below the other on one axis of time. */

import { useEffect, useMemo } from "preact/hooks";
import { Notes } from "../../components/Notes";
import { device, hasHistory, hasTime } from "../../state";
import "../../timeline/timeline.css";
import "../../picture/picture.css";
import "./trace.css";
import "./lanes/lanes.css";
import "./arrows/arrows.css";
import { Lower } from "./lower/Lower";
import "./lower/lower.css";
import "../../tables/lists/lists.css";
import { createModel } from "./model";
import { Panels } from "./Panels";
import { Tools } from "./tools/Tools";
import "./tools/tools.css";

export function Trace() {
  if (device.value === null) return <Nothing title="This recording holds no device" why="" />;
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
      <Panels model={model} />
      <Lower model={model} />
    </div>
  );
}
