/** Memory over time: the chart, steps and annotations on its axis, and a small map of the whole. */

import { hasHistory } from "../state";
import { Chart } from "./Chart";
import { Legend } from "./Legend";
import { Minimap } from "./Minimap";
import type { Model } from "./model";
import { Tracks } from "./Tracks";
import { useSizes } from "./useSizes";
import "./timeline.css";

export function Timeline({ model }: { model: Model }) {
  const { section, stage } = useSizes(model);
  return (
    <section class="timeline" ref={section} aria-label="Memory over time">
      <Legend model={model} />
      <div class={hasHistory.value ? "timeline-stage" : "timeline-stage is-moment"} ref={stage}>
        <Chart model={model} />
        <Notices model={model} />
      </div>
      {hasHistory.value ? (
        <>
          <Tracks model={model} />
          <Minimap model={model} />
        </>
      ) : null}
    </section>
  );
}

/** What the picture cannot say: that it loads, that it failed. */
export function Notices({ model }: { model: Model }) {
  const { failure, loading, detail, retry } = model.loader;
  if (failure.value !== null) {
    return (
      <div class="timeline-notice danger" role="alert">
        {failure.value}{" "}
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </div>
    );
  }
  if (detail.value === null) return <p class="timeline-notice quiet">Loading…</p>;
  return loading.value ? <div class="timeline-busy" aria-hidden="true" /> : null;
}
