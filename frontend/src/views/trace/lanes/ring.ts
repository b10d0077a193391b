/** Paints a ring around the selected span, however narrow it is. */

import type { TraceSpan } from "../../../api";
import type { Ink } from "../../../theme/theme";
import type { Surface } from "../../../timeline/paint/surface";
import { toPixel } from "../../../timeline/scale";
import { laneBox } from "./layout";
import type { Drawing } from "./paint";

const NARROWEST = 5;

export function paintRing(surface: Surface, span: TraceSpan, drawing: Drawing, ink: Ink): void {
  const placed = drawing.placed.find(({ track }) => track.id === span.track);
  if (placed === undefined) return;
  const { top, height } = laneBox(placed, span.depth);
  const x = drawing.from + toPixel(drawing.reach, drawing.width, span.begin);
  const end = drawing.from + toPixel(drawing.reach, drawing.width, span.end);
  const wide = Math.max(end - x, NARROWEST);
  const left = Math.min(x, (x + end) / 2 - wide / 2);
  const { context } = surface;
  context.lineWidth = 2;
  context.strokeStyle = ink.accent;
  context.strokeRect(left - 0.5, top, wide + 1, height);
}
