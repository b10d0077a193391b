/** Paints the vertical: bytes, or the ranges of addresses that are mapped. */

import type { Stretch } from "../../drawing/tile";
import { bytes as inWords } from "../../format";
import type { Ink } from "../../theme/theme";
import { crisp, line, type Surface } from "../../timeline/paint/surface";
import { type Range, toPixel } from "../../timeline/scale";
import type { Plot } from "../../timeline/scene";
import { byteRangeTicks } from "../byteAxis";

const GAP = 8;
/** Pixels a label needs. */
const ROOM = 14;
/** Sizes of fewer ranges than this are no scale. */
const FEW = 4;
/** Share of the height from which on a range counts as all that is in view. */
const ALONE = 0.9;

const yOf = (plot: Plot, bytes: Range, value: number): number =>
  plot.top + plot.height - toPixel(bytes, plot.height, value);

/** With `grid`, a line across at each tick. */
export function paintBytes(
  surface: Surface,
  plot: Plot,
  bytes: Range,
  ink: Ink,
  grid = true,
): void {
  paintTicks(surface, plot, bytes, 0, "", ink, grid);
}

/** Ticks that count from `zero`, which is called `head`. */
function paintTicks(
  surface: Surface,
  plot: Plot,
  bytes: Range,
  zero: number,
  head: string,
  ink: Ink,
  grid = true,
): void {
  const { context } = surface;
  const counted = { begin: bytes.begin - zero, end: bytes.end - zero };
  const { ticks, base } = byteRangeTicks(counted, plot.height < 200 ? 5 : 8);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticks) {
    const y = crisp(surface, yOf(plot, bytes, tick.value + zero));
    if (grid) {
      context.globalAlpha = 0.5;
      line(surface, [plot.left, y], [plot.left + plot.width, y], ink.line);
      context.globalAlpha = 1;
    }
    line(surface, [plot.left - 4, y], [plot.left, y], ink.quiet);
    context.fillStyle = ink.quiet;
    context.fillText(tick.label, plot.left - GAP, y);
  }
  const from = [head, base].filter(Boolean).join(" + ");
  if (from === "") return;
  context.textAlign = "left";
  context.fillText(`${from} +`, 2, plot.top - 9);
}

/**
 * A line between ranges of addresses. Where several have room for it each tells its size; else there
 * is a scale: from the address that the one in view begins at, or from the bottom of the picture.
 */
export function paintStretches(
  surface: Surface,
  plot: Plot,
  bytes: Range,
  stretches: readonly Stretch[],
  ink: Ink,
): void {
  const { context } = surface;
  const sizes: { readonly text: string; readonly y: number }[] = [];
  let free = plot.top + plot.height + ROOM;
  let largest: Stretch | null = null;
  let share = 0;
  for (const stretch of stretches) {
    const { offset, size } = stretch;
    if (offset + size < bytes.begin || offset > bytes.end) continue;
    const bottom = Math.min(yOf(plot, bytes, offset), plot.top + plot.height);
    const top = Math.max(yOf(plot, bytes, offset + size), plot.top);
    if (bottom - top >= 3) {
      const y = crisp(surface, top);
      line(surface, [plot.left - 4, y], [plot.left + plot.width, y], ink.line);
    }
    if (bottom - top > share) [largest, share] = [stretch, bottom - top];
    const middle = (top + bottom) / 2;
    if (bottom - top < ROOM || free - middle < ROOM) continue;
    sizes.push({ text: inWords(size), y: middle });
    free = middle;
  }
  if (sizes.length < FEW) {
    const isAlone = largest !== null && share >= ALONE * plot.height;
    const zero = isAlone ? (largest as Stretch) : { offset: 0, address: "" };
    const head = zero.address === "0x0" ? "" : zero.address;
    paintTicks(surface, plot, bytes, zero.offset, head, ink);
    return;
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = ink.quiet;
  for (const { text, y } of sizes) context.fillText(text, plot.left - GAP, y);
}
