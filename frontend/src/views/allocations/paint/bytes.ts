/** Paints the vertical: bytes, or the ranges of addresses that are mapped. */

import type { Stretch } from "../../../drawing/tile";
import { bytes as inWords } from "../../../format";
import type { Ink } from "../../../theme/theme";
import { crisp, line, type Surface } from "../../profile/timeline/paint/surface";
import { type Range, toPixel } from "../../profile/timeline/scale";
import type { Plot } from "../../profile/timeline/scene";
import { byteRangeTicks } from "../byteAxis";

const GAP = 8;
/** Pixels a label needs. */
const ROOM = 14;

const yOf = (plot: Plot, bytes: Range, value: number): number =>
  plot.top + plot.height - toPixel(bytes, plot.height, value);

export function paintBytes(surface: Surface, plot: Plot, bytes: Range, ink: Ink): void {
  const { context } = surface;
  const { ticks, base } = byteRangeTicks(bytes, plot.height < 200 ? 5 : 8);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticks) {
    const y = crisp(surface, yOf(plot, bytes, tick.value));
    context.globalAlpha = 0.5;
    line(surface, [plot.left, y], [plot.left + plot.width, y], ink.line);
    context.globalAlpha = 1;
    line(surface, [plot.left - 4, y], [plot.left, y], ink.quiet);
    context.fillStyle = ink.quiet;
    context.fillText(tick.label, plot.left - GAP, y);
  }
  if (base === null) return;
  context.textAlign = "left";
  context.fillText(`${base} +`, 2, plot.top - 9);
}

/** A line between ranges, and the size of those that have room for it. */
export function paintStretches(
  surface: Surface,
  plot: Plot,
  bytes: Range,
  stretches: readonly Stretch[],
  ink: Ink,
): void {
  const { context } = surface;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = ink.quiet;
  let free = plot.top + plot.height + ROOM;
  for (const { offset, size } of stretches) {
    if (offset + size < bytes.begin || offset > bytes.end) continue;
    const bottom = Math.min(yOf(plot, bytes, offset), plot.top + plot.height);
    const top = Math.max(yOf(plot, bytes, offset + size), plot.top);
    if (bottom - top >= 3) {
      const y = crisp(surface, top);
      line(surface, [plot.left - 4, y], [plot.left + plot.width, y], ink.line);
    }
    const middle = (top + bottom) / 2;
    if (bottom - top < ROOM || free - middle < ROOM) continue;
    context.fillText(inWords(size), plot.left - GAP, middle);
    free = middle;
  }
}
