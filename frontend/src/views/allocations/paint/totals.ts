/** Paints all that is allocated as a line along the top of the stack: the curve of usage. */

import type { Ink } from "../../../theme/theme";
import { eachRun } from "../../../timeline/columns";
import type { Surface } from "../../../timeline/paint/surface";
import { type Range, toPixel } from "../../../timeline/scale";
import type { Scene } from "../../../timeline/scene";

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
