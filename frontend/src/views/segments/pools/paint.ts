/** Paints one pool over time: allocated as a body, reserved as the line around it. */

import type { Pools } from "../../../api";
import { bytes } from "../../../format";
import type { Ink } from "../../../theme/theme";
import { crisp, line, type Surface } from "../../../timeline/paint/surface";
import { type Range, toPixel } from "../../../timeline/scale";
import { envelope } from "./columns";

export interface PoolScene {
  readonly answer: Pools;
  readonly group: number;
  /** Left edge and width of the plot, which is that of the timeline above. */
  readonly left: number;
  readonly wide: number;
  readonly window: Range;
  /** Where the cursor is on the axis; null where that is not known. */
  readonly at: number | null;
}

const ABOVE = 6;

export function paintPool(surface: Surface, scene: PoolScene, ink: Ink, colour: string): void {
  const { context, height } = surface;
  const { left, wide, window } = scene;
  if (wide <= 0) return;
  const columns = Math.max(1, Math.round(wide * surface.ratio));
  const { reserved, allocated } = envelope(scene.answer, scene.group, window, columns);
  const highest = Math.max(1, most(reserved), most(allocated));
  const base = height - 1;
  const yOf = (value: number): number => base - (value / highest) * (base - ABOVE);
  const step = wide / columns;
  context.fillStyle = colour;
  for (let column = 0; column < columns; column++) {
    const value = allocated[column] as number;
    if (!(value > 0)) continue;
    const y = yOf(value);
    context.fillRect(left + column * step, y, step, base - y);
  }
  paintLine(surface, reserved, left, step, yOf, ink.text);
  line(surface, [left, crisp(surface, base)], [left + wide, crisp(surface, base)], ink.line);
  context.fillStyle = ink.quiet;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(bytes(highest), left - 8, ABOVE + 3);
  if (scene.at === null || scene.at < window.begin || scene.at > window.end) return;
  const x = crisp(surface, left + toPixel(window, wide, scene.at));
  line(surface, [x, 0], [x, base], ink.cursor, 1.5);
}

function paintLine(
  surface: Surface,
  values: Float64Array,
  left: number,
  step: number,
  yOf: (value: number) => number,
  colour: string,
): void {
  const { context } = surface;
  context.beginPath();
  let isDrawing = false;
  values.forEach((value, column) => {
    if (Number.isNaN(value)) {
      isDrawing = false;
      return;
    }
    const [x, y] = [left + column * step, crisp(surface, yOf(value))];
    if (isDrawing) context.lineTo(x, y);
    else context.moveTo(x, y);
    context.lineTo(x + step, y);
    isDrawing = true;
  });
  context.strokeStyle = colour;
  context.lineWidth = 1.25;
  context.stroke();
}

function most(values: Float64Array): number {
  let found = 0;
  for (const value of values) if (value > found) found = value;
  return found;
}
