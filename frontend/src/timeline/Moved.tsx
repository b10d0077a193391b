/** A canvas drawn for more of the axis than is in view, and moved as the window moves. */

import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Model } from "./model";
import type { Seen } from "./paint/axes";
import type { Surface } from "./paint/surface";
import type { Reach } from "./reach";
import { toPixel } from "./scale";
import { usePaint } from "./usePaint";
import { useTransform } from "./useTransform";

/** Where it is painted, in pixels of the canvas. */
export interface Stretch {
  readonly reach: Reach;
  /** Where `reach` lies. */
  readonly from: number;
  readonly width: number;
  /** What was in view when it was painted, for words that keep to it. */
  readonly seen: Seen;
}

interface MovedProps {
  model: Model;
  /** Pixels of it in the element that holds it; signals, since they follow sizes. */
  frame: () => { readonly top: number; readonly height: number };
  /** Reads signals, but the window: what it returns paints. Null leaves it empty. */
  painter: (stretch: Stretch) => ((surface: Surface) => void) | null;
  /** Pixels left and right of the plot that are seen too. */
  beside?: number;
  testId: string;
}

/** Made once: what it draws comes from signals, not from props. */
export function Moved({ model, frame, painter, beside = 0, testId }: MovedProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { plot, window, reach } = model;
  const wide = useComputed(() => Math.round(plot.value.width * reach.value.times));
  usePaint(
    canvas,
    () => {
      const [drawn, width, { height }] = [reach.value, wide.value, frame()];
      if (width <= 0 || height <= 0) return null;
      const seen = window.peek();
      const at = (value: number) => beside + toPixel(drawn, width, value);
      const inView = { left: at(seen.begin), right: at(seen.end), times: drawn.times };
      const paint = painter({ reach: drawn, from: beside, width, seen: inView });
      return { width: width + 2 * beside, height, paint };
    },
    true,
  );
  const place = useComputed(() => {
    const { left, width } = plot.value;
    const { top, height } = frame();
    return `left: ${left - beside}px; top: ${top}px; width: ${width + 2 * beside}px; height: ${height}px`;
  });
  const style = useComputed(() => {
    const { height } = frame();
    return `width: ${wide.value + 2 * beside}px; height: ${height}px`;
  });
  const transform = useComputed(() => {
    const x = toPixel(window.value, plot.value.width, reach.value.begin);
    return `translateX(${x}px)`;
  });
  useTransform(canvas, transform);
  return (
    <div class="timeline-moved" style={place}>
      <canvas ref={canvas} style={style} data-testid={testId} />
    </div>
  );
}
