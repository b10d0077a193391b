/** Where a picture is at its highest. */

import type { Tile } from "../../drawing/tile";
import type { Picture } from "./pictures";

export interface Highest {
  readonly tile: Tile;
  readonly column: number;
  readonly total: number;
}

/** The first of the columns shown in which most is alive; null where nothing is known. */
export function highestOf({ tiles, chosen }: Pick<Picture, "tiles" | "chosen">): Highest | null {
  let best: Highest | null = null;
  for (let x = 0; x < chosen.tile.length; x++) {
    const tile = tiles[chosen.tile[x] as number];
    if (tile === undefined) continue;
    const column = chosen.column[x] as number;
    const total = tile.columns.total[column] as number;
    if (best === null || total > best.total) best = { tile, column, total };
  }
  return best;
}
