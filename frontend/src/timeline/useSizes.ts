/** Keeps a timeline's sizes those of the elements that hold it. */

import { batch } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Model } from "./model";

/** References for the section as wide as the timeline, and for the stage as high as its chart. */
export function useSizes(model: Model): {
  readonly section: RefObject<HTMLElement | null>;
  readonly stage: RefObject<HTMLDivElement | null>;
} {
  const section = useRef<HTMLElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  // Before the first frame, so that what depends on the sizes is asked for at once.
  useLayoutEffect(() => {
    if (section.current === null || stage.current === null) return;
    return followSizes(section.current, stage.current, model);
  }, [model]);
  return { section, stage };
}

/** Keeps the model's sizes those of the page; a hidden page has none, and keeps its last. */
function followSizes(section: HTMLElement, chart: HTMLElement, model: Model): () => void {
  const measure = () => {
    const [width, height] = [section.clientWidth, chart.clientHeight];
    if (width === 0 || height === 0) return;
    batch(() => {
      model.width.value = width;
      model.height.value = height;
      model.ratio.value = devicePixelRatio || 1;
    });
  };
  measure();
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
