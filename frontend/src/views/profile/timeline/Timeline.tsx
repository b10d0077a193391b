/** Memory over time: the chart, steps and annotations on its axis, and a small map of the whole. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { hasHistory } from "../../../state";
import { Chart } from "./Chart";
import { Legend } from "./Legend";
import { Minimap } from "./Minimap";
import { createModel, type Model } from "./model";
import { Tracks } from "./Tracks";
import "./timeline.css";

export function Timeline() {
  const model = useMemo(createModel, []);
  const section = useRef<HTMLElement>(null);
  const chart = useRef<HTMLDivElement>(null);
  useEffect(() => model.dispose, [model]);
  useEffect(() => {
    if (section.current === null || chart.current === null) return;
    return followSizes(section.current, chart.current, model);
  }, [model]);
  return (
    <section class="timeline" ref={section} aria-label="Memory over time">
      <Legend model={model} />
      <div class="timeline-stage" ref={chart}>
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

/** Keeps the model's sizes those of the page; a hidden page has none, and keeps its last. */
function followSizes(section: HTMLElement, chart: HTMLElement, model: Model): () => void {
  const observer = new ResizeObserver(() => {
    const [width, height] = [section.clientWidth, chart.clientHeight];
    if (width === 0 || height === 0) return;
    model.width.value = width;
    model.height.value = height;
  });
  observer.observe(section);
  observer.observe(chart);
  return () => observer.disconnect();
}

/** What the picture cannot say: that there is no history, that it loads, that it failed. */
function Notices({ model }: { model: Model }) {
  const { failure, loading, detail, retry } = model.loader;
  if (failure.value !== null) {
    return (
      <div class="timeline-notice danger" role="alert">
        {failure.value}{" "}
        <button type="button" onClick={retry}>
          Try again
        </button>
      </div>
    );
  }
  if (!hasHistory.value) {
    return (
      <p class="timeline-notice" data-testid="timeline-no-history">
        This source holds one moment and no history, so there is nothing to draw over time. To
        record one, call <code>torch.cuda.memory._record_memory_history()</code> before the part you
        want to see, or use <code>MemoryWriter</code>.
      </p>
    );
  }
  if (detail.value === null) return <p class="timeline-notice quiet">Loading…</p>;
  return loading.value ? <div class="timeline-busy" aria-hidden="true" /> : null;
}
