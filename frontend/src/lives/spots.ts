/** Pixels of the plot as places on the axis and heights in bytes. */

import type { Spot } from "../picture/pointing";
import type { Point } from "../timeline/model";
import { toValue } from "../timeline/scale";
import type { Model } from "./model";

/** Place and height of a pixel of the plot; the edges are as far as it goes. */
export function spotAt(model: Model, { x, y }: Point): Spot {
  const { width, height } = model.timeline.plot.peek();
  const clamped = { x: Math.min(Math.max(x, 0), width), y: Math.min(Math.max(y, 0), height) };
  return {
    at: toValue(model.timeline.window.peek(), width, clamped.x),
    bytes: toValue(model.bytes.peek(), height, height - clamped.y),
  };
}
