/** Paints the small map: the whole as one silhouette, and on another canvas the cursor and failures. */

import type { Usage } from "../../api";
import { mix } from "../../theme/mix";
import type { Ink } from "../../theme/theme";
import { columnRows } from "../columns";
import type { Life } from "../life";
import { known } from "../rows";
import { type Range, toPixel } from "../scale";
import { levelOf, type Plot } from "../scene";
import { paintHeight } from "./life";
import { paintStack } from "./stack";
import { crisp, line, type Surface } from "./surface";

export interface MapGround {
  readonly usage: Usage | null;
  readonly whole: Range;
  readonly plot: Plot;
}

export interface MapPicture extends Omit<MapGround, "usage"> {
  /** Where the cursor stands, on the axis. */
  readonly cursor: number | null;
  readonly failures: readonly number[];
  /** A life over the silhouette, as high as its bytes are there; null without. */
  readonly life: { readonly of: Life; readonly top: number } | null;
}

/** Bytes at the upper edge: a little above the highest there is. */
export const topOf = (usage: Usage): number =>
  usage.level.reduce((most, value) => Math.max(most, known(value) ?? 0), 1) * 1.08;

/** The silhouette, which stays while the window moves over it. */
export function paintGround(surface: Surface, ground: MapGround, ink: Ink): void {
  const { context } = surface;
  const { plot, usage } = ground;
  context.fillStyle = ink.track;
  context.fillRect(plot.left, plot.top, plot.width, plot.height);
  if (usage !== null) paintSilhouette(surface, ground, usage, mix(ink.track, ink.quiet, 0.6));
}

/** A life, the cursor and failures, over the silhouette and what is in view of it. */
export function paintLines(surface: Surface, picture: MapPicture, ink: Ink): void {
  const { life, plot, whole } = picture;
  if (life !== null) {
    const scene = { plot, window: whole, height: { top: life.top, showsCapacity: false } };
    paintHeight(surface, scene, life.of, ink);
  }
  for (const failure of picture.failures) paintLine(surface, picture, failure, ink.danger);
  if (picture.cursor !== null) paintLine(surface, picture, picture.cursor, ink.cursor);
}

function paintSilhouette(
  surface: Surface,
  { whole, plot }: MapGround,
  usage: Usage,
  colour: string,
) {
  const rows = columnRows(usage, whole, plot.columns);
  const sheet = { usage, rows, tops: [levelOf(usage)], reserved: null };
  paintStack(surface, plot, sheet, topOf(usage), [colour]);
}

function paintLine(surface: Surface, { whole, plot }: MapPicture, value: number, colour: string) {
  if (value < whole.begin || value > whole.end) return;
  const x = crisp(surface, plot.left + toPixel(whole, plot.width, value));
  line(surface, [x, plot.top], [x, plot.top + plot.height], colour, 1);
}
