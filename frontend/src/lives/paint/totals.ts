/** Paints all that is allocated as a line along the top of the stack, and the capacity above it. */

import type { Ink } from "../../theme/theme";
import { eachRun } from "../../timeline/columns";
import { crisp, line, type Surface } from "../../timeline/paint/surface";
import { type Range, toPixel } from "../../timeline/scale";
import type { Plot, Scene } from "../../timeline/scene";

export function paintTotals(
  surface: Surface,
  scene: Pick<Scene, "plot" | "sheets">,
  bytes: Range,
  ink: Ink,
): void {
  const { context, ratio } = surface;
  const { plot } = scene;
  context.save();
  context.beginPath();
  context.rect(plot.left, plot.top - 1, plot.width, plot.height + 1);
  context.clip();
  context.beginPath();
  for (const { usage, rows } of scene.sheets) {
    let last = -1;
    eachRun(rows, (row, from, to) => {
      const value = toPixel(bytes, plot.height, usage.allocated[row] as number);
      const y = plot.top + plot.height - value;
      if (from === last) context.lineTo(plot.left + from / ratio, y);
      else context.moveTo(plot.left + from / ratio, y);
      context.lineTo(plot.left + to / ratio, y);
      last = to;
    });
  }
  context.strokeStyle = ink.text;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}

/** The most that can be held, where that is among the bytes in view: dashed, as on the chart. */
export function paintCapacity(
  surface: Surface,
  plot: Plot,
  capacity: number,
  bytes: Range,
  colour: string,
): void {
  if (capacity < bytes.begin || capacity > bytes.end) return;
  const y = crisp(surface, plot.top + plot.height - toPixel(bytes, plot.height, capacity));
  const { context } = surface;
  context.save();
  context.setLineDash([4, 3]);
  line(surface, [plot.left, y], [plot.left + plot.width, y], colour, 1.25);
  context.restore();
}
