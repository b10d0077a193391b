/** A canvas that shows one picture, moved and scaled to where it belongs now. */

import { type ReadonlySignal, useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../state";
import type { Range } from "../timeline/scale";
import type { Plot } from "../timeline/scene";
import { useTransform } from "../timeline/useTransform";
import type { Picture } from "./pictures";
import { placed } from "./placing";

interface LayerProps {
  /** What it is placed by: the window, the bytes and the plot of now. */
  model: {
    readonly timeline: {
      readonly window: ReadonlySignal<Range>;
      readonly plot: ReadonlySignal<Plot>;
    };
    readonly bytes: ReadonlySignal<Range>;
  };
  picture: ReadonlySignal<Picture | null>;
  name: string;
}

export function Layer({ model, picture, name }: LayerProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { window, plot } = model.timeline;
  useEffect(() => {
    let shown: Picture | null = null;
    // Bitmap and place change in one go: a picture is never seen in the place of another.
    return picture.subscribe((next) => {
      const element = canvas.current;
      if (element === null || next === null || next === shown || !visible.peek()) return;
      shown = next;
      const { width, height } = next.view;
      element.width = height;
      element.height = width;
      element.dataset.took = next.took.toFixed(1);
      element.dataset.whole = String(next.isWhole);
      element.getContext("bitmaprenderer")?.transferFromImageBitmap(next.bitmap);
    });
  }, [picture]);
  const style = useComputed(() => {
    const shown = picture.value;
    if (shown === null) return "visibility: hidden";
    const { width, height } = shown.view;
    return `width: ${height}px; height: ${width}px`;
  });
  const transform = useComputed(() => {
    const shown = picture.value;
    if (shown === null) return "none";
    return placed(shown.view, window.value, model.bytes.value, plot.value);
  });
  useTransform(canvas, transform);
  return <canvas ref={canvas} class="allocations-layer" data-testid={name} style={style} />;
}
