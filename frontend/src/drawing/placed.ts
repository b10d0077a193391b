/** The layouts with fixed places (address, lane): cells of small and short lives, rows over them. */

import { byValue, eachOf, Living, type Sorted } from "./order";
import type { Sheet } from "./sheet";
import { type Firsts, HELD, NOTHING } from "./things";
import type { Tile } from "./tile";

/** Fills the columns of a tile that are `shown` (its columns, each with the pixel columns that show it). */
export function fillPlaced(sheet: Sheet, tile: Tile, firsts: Firsts, shown: Sorted): void {
  const { columns, rows, merged, mapped } = tile;
  const born = byValue(rows.first, rows.length, columns.length);
  const died = byValue(rows.last, rows.length, columns.length);
  const [begun, ended] = [merged.column, merged.last].map((column) =>
    byValue(column, merged.length, columns.length),
  ) as [Sorted, Sorted];
  const living = new Living(rows.length);
  const small = new Living(merged.length);
  const held = new Living(mapped.length);
  const [mappedFrom, mappedTo] = [mapped.first, mapped.last].map((column) =>
    byValue(column, mapped.length, columns.length),
  ) as [Sorted, Sorted];
  const pixels = new Int32Array(sheet.height);
  for (let column = 0; column < columns.length; column++) {
    if (column > 0) {
      eachOf(died, column - 1, (row) => living.go(row));
      eachOf(ended, column - 1, (cell) => small.go(cell));
      eachOf(mappedTo, column - 1, (range) => held.go(range));
    }
    eachOf(born, column, (row) => living.come(row));
    eachOf(begun, column, (cell) => small.come(cell));
    eachOf(mappedFrom, column, (range) => held.come(range));
    const first = shown.from[column] as number;
    const last = shown.from[column + 1] as number;
    if (first === last) continue;
    fillColumn(pixels, sheet, tile, { living, small, held }, firsts);
    const from = sheet.count;
    addRuns(sheet, pixels);
    for (let at = first; at < last; at++) sheet.show(shown.places[at] as number, from);
  }
}

/** Lays one thing over another, a number a pixel. */
function fillColumn(
  pixels: Int32Array,
  sheet: Sheet,
  { about, rows, merged, mapped, blocks }: Tile,
  { living, small, held }: Readonly<Record<"living" | "small" | "held", Living>>,
  firsts: Firsts,
): void {
  const put = (id: number, begin: number, size: number) =>
    pixels.fill(id, sheet.pixel(begin), sheet.pixel(begin + size));
  pixels.fill(NOTHING);
  // What is mapped at this instant is told from what is not.
  held.each((range) => {
    put(HELD, mapped.offset[range] as number, mapped.size[range] as number);
  });
  small.each((cell) => {
    const tall = merged.tall[cell] as number;
    put(firsts.merged + cell, merged.offset[cell] as number, tall * about.pixel);
  });
  // Which row is over which does not matter: no two are in the same place at once.
  living.each((row) => {
    const size = (blocks[row] ?? rows.bytes[row]) as number;
    put(firsts.rows + row, rows.offset[row] as number, size);
  });
}

function addRuns(sheet: Sheet, pixels: Int32Array): void {
  sheet.makeRoom();
  for (let y = 1; y < pixels.length; y++) {
    if (pixels[y] !== pixels[y - 1]) sheet.put(pixels[y - 1] as number, y);
  }
  sheet.put(pixels[pixels.length - 1] as number, pixels.length);
}
