/** Where a picture is at its highest. */

import type { Tile } from "../drawing/tile";
import { type Range, span } from "../timeline/scale";
import type { Picture } from "./pictures";

export interface Highest {
  readonly tile: Tile;
  readonly column: number;
  readonly total: number;
}

/** The first of a window's columns in which most is alive; null where nothing is known. */
export function highestOf(
  { tiles, chosen, view }: Pick<Picture, "tiles" | "chosen" | "view">,
  window: Range,
): Highest | null {
  let best: Highest | null = null;
  const pixel = span(view) / view.width;
  const first = Math.max(0, Math.round((window.begin - view.begin) / pixel));
  const last = Math.min(view.width, Math.round((window.end - view.begin) / pixel));
  for (let x = first; x < last; x++) {
    const tile = tiles[chosen.tile[x] as number];
    if (tile === undefined) continue;
    const column = chosen.column[x] as number;
    const total = tile.columns.total[column] as number;
    if (best === null || total > best.total) best = { tile, column, total };
  }
  return best;
}
