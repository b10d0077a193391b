/** Paints the stacked groups: one step-shaped area a group, the highest first and each down to zero. */

import { eachRun } from "../columns";
import type { Plot, Sheet } from "../scene";
import type { Surface } from "./surface";

/**
 * Paints a sheet with `colours` (one a group) where `top` bytes are the height of the plot. Works in
 * device pixels: a column is never shared by two bins.
 */
export function paintStack(
  surface: Surface,
  plot: Plot,
  sheet: Sheet,
  top: number,
  colours: readonly string[],
): void {
  const { context, ratio } = surface;
  const left = Math.round(plot.left * ratio);
  const base = Math.round((plot.top + plot.height) * ratio);
  const tall = plot.height * ratio;
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  // Each covers those below it too, which are painted over it: no seams of background between.
  for (let group = sheet.tops.length - 1; group >= 0; group--) {
    const tops = sheet.tops[group] as Float64Array;
    context.beginPath();
    let end = -1;
    eachRun(sheet.rows, (row, from, to) => {
      const y = base - ((tops[row] as number) / top) * tall;
      if (from !== end) {
        if (end >= 0) context.lineTo(left + end, base);
        context.moveTo(left + from, base);
      }
      context.lineTo(left + from, y);
      context.lineTo(left + to, y);
      end = to;
    });
    if (end < 0) continue;
    context.lineTo(left + end, base);
    context.fillStyle = colours[group] ?? "#888888";
    context.fill();
  }
  context.restore();
}
