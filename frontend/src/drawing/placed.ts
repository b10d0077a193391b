/** The layouts with fixed places (address, lane): cells of small and short lives, rows over them. */

import { byValue, Living, type Sorted } from "./order";
import type { Sheet } from "./sheet";
import { bear, bury } from "./stacked";
import type { Firsts } from "./things";
import type { Tile } from "./tile";

/** Fills the columns of a tile that are `shown` (its columns, each with the pixel columns that show it). */
export function fillPlaced(sheet: Sheet, tile: Tile, firsts: Firsts, shown: Sorted): void {
  const { columns, rows, merged } = tile;
  const born = byValue(rows.first, rows.length, columns.length);
  const died = byValue(rows.last, rows.length, columns.length);
  const cells = byValue(merged.column, merged.length, columns.length);
  // Which of them is over which does not matter: no two are in the same place at once.
  const items = Int32Array.from({ length: rows.length }, (_, row) => row);
  const bytes = new Float64Array(rows.length);
  const living = new Living(bytes.length);
  for (let column = 0; column < columns.length; column++) {
    if (column > 0) bury(died, column - 1, items, bytes);
    bear(tile, born, column, items, bytes, living);
    const first = shown.from[column] as number;
    const last = shown.from[column + 1] as number;
    if (first === last) continue;
    living.settle();
    const base = (shown.places[first] as number) * sheet.height;
    const edgesBefore = sheet.edgeCount;
    fillColumn(sheet, base, tile, column, living, bytes, cells, firsts);
    if (last === first + 1) continue;
    const edges = sheet.edgesSince(edgesBefore);
    for (let at = first + 1; at < last; at++) {
      sheet.copy(base, (shown.places[at] as number) * sheet.height, edges);
    }
  }
}

function fillColumn(
  sheet: Sheet,
  base: number,
  { about, rows, merged }: Tile,
  column: number,
  living: Living,
  bytes: Float64Array,
  cells: Sorted,
  firsts: Firsts,
): void {
  sheet.nothing(base, 0, sheet.height);
  // Mapped addresses are told from those that are not.
  for (const { offset, size } of about.segments ?? []) sheet.held(base, offset, offset + size);
  for (let at = cells.from[column] as number; at < (cells.from[column + 1] as number); at++) {
    const cell = cells.places[at] as number;
    const offset = merged.offset[cell] as number;
    place(sheet, base, offset, offset + about.pixel, firsts.merged + cell);
  }
  let kept = 0;
  for (let at = 0; at < living.length; at++) {
    const row = living.items[at] as number;
    if (bytes[row] === 0) {
      living.gone(row);
      continue;
    }
    living.items[kept] = row;
    kept += 1;
    const offset = rows.offset[row] as number;
    place(sheet, base, offset, offset + (bytes[row] as number), firsts.rows + row);
  }
  living.keep(kept, living.length);
}

function place(sheet: Sheet, base: number, begin: number, end: number, id: number): void {
  const from = Math.max(0, sheet.pixel(begin));
  const to = Math.min(sheet.height, sheet.pixel(end));
  if (to > from) sheet.put(base, from, to, id, end - begin);
}
