/** What stacks are weighed by, and the time line that the moment and the window are chosen on. */

import { useEffect, useMemo } from "preact/hooks";
import { WEIGHTS } from "../api";
import { Segmented } from "../components/Segmented";
import { hasHistory } from "../state/recording";
import { of } from "../state/view";
import { Chart } from "../timeline/Chart";
import { Minimap } from "../timeline/Minimap";
import { createModel } from "../timeline/model";
import { Notices } from "../timeline/Timeline";
import { useSizes } from "../timeline/useSizes";
import "../timeline/timeline.css";
import "./weighing.css";
import { MEANINGS } from "./words";

export function WeighingChoice() {
  const reason = hasHistory.value ? null : "This recording holds one moment and no history";
  return (
    <Segmented
      label="What stacks are weighed by"
      value={of.value}
      choose={(next) => (of.value = next)}
      options={WEIGHTS.map((key) => ({
        key,
        label: MEANINGS[key].label,
        title: MEANINGS[key].title,
        reason: key === "alive" ? null : reason,
      }))}
    />
  );
}

/** The curve, low: click to move the cursor, drag to brush the window, as in the Profile. */
export function Overview() {
  const model = useMemo(createModel, []);
  const { section, stage } = useSizes(model);
  useEffect(() => model.dispose, [model]);
  return (
    <section class="timeline overview" ref={section} aria-label="Memory over time">
      <div class="timeline-stage" ref={stage}>
        <Chart model={model} />
        <Notices model={model} />
      </div>
      <Minimap model={model} />
    </section>
  );
}
