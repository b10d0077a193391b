/** Paints reserved, fragmentation and capacity over the stack. */

import { formulaOf, wasted } from "../fragmentation";
import { FREE_LIST } from "../height";
import type { OtherLine } from "../otherLine";
import type { Plot, Scene } from "../scene";
import { crisp, type Surface } from "./surface";

/** A step-shaped line through one value a column; NaN leaves a gap. `heightOf` 0 is the base, 1 the top. */
function stepLine(
  surface: Surface,
  plot: Plot,
  count: number,
  heightOf: (column: number) => number,
): void {
  const { context } = surface;
  const step = plot.width / count;
  const base = plot.top + plot.height;
  let last = Number.NaN;
  context.beginPath();
  for (let column = 0; column < count; column++) {
    const value = heightOf(column);
    if (Number.isNaN(value)) {
      if (!Number.isNaN(last)) context.lineTo(plot.left + column * step, last);
      last = Number.NaN;
      continue;
    }
    const y = crisp(surface, base - value * plot.height);
    if (y === last && column < count - 1) continue;
    const x = plot.left + column * step;
    if (Number.isNaN(last)) context.moveTo(x, y);
    else context.lineTo(x, last);
    context.lineTo(x, y);
    if (column === count - 1) context.lineTo(plot.left + plot.width, y);
    last = y;
  }
}

export function paintReserved(surface: Surface, scene: Scene, colour: string): void {
  const { context } = surface;
  for (const { reserved, rows } of scene.sheets) {
    if (reserved === null) continue;
    const heightOf = (column: number) =>
      rows[column] === -1 ? Number.NaN : (reserved[column] as number) / scene.height.top;
    stepLine(surface, scene.plot, reserved.length, heightOf);
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.stroke();
  }
}

/** Fragmentation from 0 at the base to 1 at the top of the plot; dashed what allocators report. */
export function paintFragmentation(
  surface: Surface,
  scene: Scene,
  colour: string,
  halo: string,
): void {
  const { context } = surface;
  context.save();
  for (const sheet of scene.sheets) {
    const formula = formulaOf(sheet.usage);
    if (formula === null) continue;
    const partAt = (column: number) => wasted(sheet.usage, sheet.rows[column] as number);
    stepLine(surface, scene.plot, sheet.rows.length, (column) => partAt(column) ?? Number.NaN);
    context.setLineDash(formula === FREE_LIST ? [5, 3] : []);
    context.lineJoin = "round";
    context.globalAlpha = 0.7;
    context.strokeStyle = halo;
    context.lineWidth = 3;
    context.stroke();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.stroke();
  }
  context.restore();
}

/** Another line where its bytes are others than those drawn, by half a pixel at least. */
export function paintOther(
  surface: Surface,
  scene: Scene,
  other: OtherLine,
  colour: string,
  halo: string,
): void {
  const { context } = surface;
  const least = (scene.height.top / Math.max(scene.plot.height, 1)) * 0.5;
  context.save();
  for (const { usage, rows } of scene.sheets) {
    const heightOf = (column: number) => {
      const row = rows[column] as number;
      const bytes = row === -1 ? null : other.at(usage, row);
      if (bytes === null || (usage.level[row] as number) - bytes < least) return Number.NaN;
      return bytes / scene.height.top;
    };
    stepLine(surface, scene.plot, rows.length, heightOf);
    context.lineJoin = "round";
    context.strokeStyle = halo;
    context.lineWidth = 3.5;
    context.stroke();
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke();
  }
  context.restore();
}

export function paintCapacity(surface: Surface, scene: Scene, colour: string): void {
  if (scene.capacity === null || !scene.height.showsCapacity) return;
  const { plot, height } = scene;
  const { context } = surface;
  const y = crisp(surface, plot.top + plot.height * (1 - scene.capacity / height.top));
  context.save();
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(plot.left, y);
  context.lineTo(plot.left + plot.width, y);
  context.strokeStyle = colour;
  context.lineWidth = 1.25;
  context.stroke();
  context.restore();
}
