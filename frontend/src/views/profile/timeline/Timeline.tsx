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
      <div class={hasHistory.value ? "timeline-stage" : "timeline-stage is-moment"} ref={chart}>
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
export function followSizes(section: HTMLElement, chart: HTMLElement, model: Model): () => void {
  const measure = () => {
    const [width, height] = [section.clientWidth, chart.clientHeight];
    if (width === 0 || height === 0) return;
    model.width.value = width;
    model.height.value = height;
    model.ratio.value = devicePixelRatio || 1;
  };
  const observer = new ResizeObserver(measure);
  observer.observe(section);
  observer.observe(chart);
  // The browser's own zoom changes the ratio, and fires this, even where no size in CSS pixels does.
  addEventListener("resize", measure);
  return () => {
    observer.disconnect();
    removeEventListener("resize", measure);
  };
}

/** What the picture cannot say: that it loads, that it failed. */
export function Notices({ model }: { model: Model }) {
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
  if (detail.value === null) return <p class="timeline-notice quiet">Loading…</p>;
  return loading.value ? <div class="timeline-busy" aria-hidden="true" /> : null;
}
