/** Paints the small map: the whole as one silhouette, and on another canvas the window with its handles. */

import type { Usage } from "../../../../api";
import type { Ink } from "../../../../theme/theme";
import { mix } from "../colour";
import { columnRows } from "../columns";
import { type Range, toPixel } from "../scale";
import { type Plot, topsOf } from "../scene";
import { paintStack } from "./stack";
import { crisp, line, type Surface } from "./surface";

export interface MapGround {
  readonly usage: Usage | null;
  readonly whole: Range;
  readonly plot: Plot;
}

export interface MapPicture extends Omit<MapGround, "usage"> {
  readonly window: Range;
  /** Where the cursor stands, on the axis. */
  readonly cursor: number | null;
  readonly failures: readonly number[];
}

/** The silhouette, which stays while the window moves over it. */
export function paintGround(surface: Surface, ground: MapGround, ink: Ink): void {
  const { context } = surface;
  const { plot, usage } = ground;
  context.fillStyle = ink.track;
  context.fillRect(plot.left, plot.top, plot.width, plot.height);
  if (usage !== null) paintSilhouette(surface, ground, usage, mix(ink.track, ink.quiet, 0.6));
}

export function paintMap(surface: Surface, picture: MapPicture, ink: Ink): void {
  const { context } = surface;
  const { plot, whole, window } = picture;
  const left = plot.left + toPixel(whole, plot.width, window.begin);
  const right = plot.left + toPixel(whole, plot.width, window.end);
  const isWhole = window.begin <= whole.begin && window.end >= whole.end;
  if (!isWhole) {
    context.save();
    context.globalAlpha = 0.6;
    context.fillStyle = ink.background;
    context.fillRect(plot.left, plot.top, left - plot.left, plot.height);
    context.fillRect(right, plot.top, plot.left + plot.width - right, plot.height);
    context.restore();
  }
  for (const failure of picture.failures) paintLine(surface, picture, failure, ink.danger);
  if (picture.cursor !== null) paintLine(surface, picture, picture.cursor, ink.cursor);
  paintHandle(surface, plot, left, isWhole ? ink.quiet : ink.accent);
  paintHandle(surface, plot, right, isWhole ? ink.quiet : ink.accent);
  if (!isWhole) {
    const [top, bottom] = [crisp(surface, plot.top), crisp(surface, plot.top + plot.height - 1)];
    line(surface, [left, top], [right, top], ink.accent);
    line(surface, [left, bottom], [right, bottom], ink.accent);
  }
}

function paintSilhouette(
  surface: Surface,
  { whole, plot }: MapGround,
  usage: Usage,
  colour: string,
) {
  const rows = columnRows(usage, whole, plot.columns);
  const top = usage.allocated.reduce((most, value) => Math.max(most, value), 1) * 1.08;
  const sheet = { usage, rows, tops: topsOf(usage).slice(-1), reserved: null };
  paintStack(surface, plot, sheet, top, [colour]);
}

function paintLine(surface: Surface, { whole, plot }: MapPicture, value: number, colour: string) {
  if (value < whole.begin || value > whole.end) return;
  const x = crisp(surface, plot.left + toPixel(whole, plot.width, value));
  line(surface, [x, plot.top], [x, plot.top + plot.height], colour, 1);
}

/** The grip of an edge of the window. */
function paintHandle(surface: Surface, plot: Plot, x: number, colour: string): void {
  const { context } = surface;
  const middle = plot.top + plot.height / 2;
  line(surface, [crisp(surface, x), plot.top], [crisp(surface, x), plot.top + plot.height], colour);
  context.beginPath();
  context.roundRect(x - 3, middle - 8, 6, 16, 3);
  context.fillStyle = colour;
  context.fill();
}
