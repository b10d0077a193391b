/** Tiles made into runs of pixels, each with the number of what is seen there. */

import { type Chosen, chooseColumns, type Part } from "./columns";
import { byValue } from "./order";
import { fillPlaced } from "./placed";
import { Sheet, type View } from "./sheet";
import { fillStacked } from "./stacked";
import { firstsOf, type Numbering, numbering } from "./things";
import type { Tile } from "./tile";

export interface Raster {
  readonly sheet: Sheet;
  readonly chosen: Chosen;
  readonly numbers: Numbering;
}

/** Fills a picture; the arrays of an earlier one are used `again`. */
export function fill(
  tiles: readonly Tile[],
  parts: readonly Part[],
  view: View,
  again?: Sheet,
): Raster {
  const sheet = new Sheet(view, again);
  const chosen = chooseColumns(tiles, parts, view.begin, view.end, view.width);
  const numbers = numbering(tiles);
  tiles.forEach((tile, index) => {
    const shown = pixelsOf(chosen, index, tile.columns.length);
    const fillTile = tile.about.layout === "stacked" ? fillStacked : fillPlaced;
    fillTile(sheet, tile, firstsOf(numbers, index), shown);
  });
  return { sheet, chosen, numbers };
}

/** The pixel columns that show each column of a tile. */
function pixelsOf(chosen: Chosen, tile: number, columns: number) {
  const keys = chosen.column.map((column, x) => (chosen.tile[x] === tile ? column : columns));
  return byValue(keys, keys.length, columns);
}
