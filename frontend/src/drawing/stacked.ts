/** The stacked layout: longer lives in order of birth with gaps between them, merged cells on top. */

import { byValue, Living, type Sorted } from "./order";
import { type Sheet, TALL } from "./sheet";
import type { Firsts } from "./things";
import type { Tile } from "./tile";

/** Rows and gaps in stack order, as one row of items. */
interface Stack {
  /** Number of the thing that an item is. */
  readonly id: Int32Array;
  /** Place of every row and every gap among the items. */
  readonly rows: Int32Array;
  readonly gaps: Int32Array;
}

function stackOf({ rows, gaps }: Tile, firsts: Firsts): Stack {
  const stack = {
    id: new Int32Array(rows.length + gaps.count),
    rows: new Int32Array(rows.length),
    gaps: new Int32Array(gaps.count),
  };
  let gap = 0;
  let item = 0;
  for (let row = 0; row <= rows.length; row++) {
    for (; gap < gaps.count && gaps.slot[gap] === row; gap++, item++) {
      stack.gaps[gap] = item;
      stack.id[item] = firsts.gaps + gap;
    }
    if (row === rows.length) break;
    stack.rows[row] = item;
    stack.id[item] = firsts.rows + row;
    item += 1;
  }
  return stack;
}

/** Fills the columns of a tile that are `shown` (its columns, each with the pixel columns that show it). */
export function fillStacked(sheet: Sheet, tile: Tile, firsts: Firsts, shown: Sorted): void {
  const { columns, rows, merged } = tile;
  const born = byValue(rows.first, rows.length, columns.length);
  const died = byValue(rows.last, rows.length, columns.length);
  const { changes } = tile.gaps;
  const changed = byValue(changes.column, changes.length, columns.length);
  const shorts = byValue(merged.column, merged.length, columns.length);
  const stack = stackOf(tile, firsts);
  // Bytes of each item now; 0 is gone.
  const bytes = new Float64Array(stack.id.length);
  const living = new Living(bytes.length);
  for (let column = 0; column < columns.length; column++) {
    if (column > 0) bury(died, column - 1, stack.rows, bytes);
    change(tile, changed, column, stack.gaps, bytes, living);
    bear(tile, born, column, stack.rows, bytes, living);
    const first = shown.from[column] as number;
    const last = shown.from[column + 1] as number;
    if (first === last) continue;
    living.settle();
    const base = (shown.places[first] as number) * sheet.height;
    const edgesBefore = sheet.edgeCount;
    fillColumn(sheet, base, tile, column, living, stack.id, bytes, shorts, firsts);
    if (last === first + 1) continue;
    const edges = sheet.edgesSince(edgesBefore);
    for (let at = first + 1; at < last; at++) {
      sheet.copy(base, (shown.places[at] as number) * sheet.height, edges);
    }
  }
}

/** Takes in the rows that are alive from `column` on. */
export function bear(
  { rows }: Tile,
  born: Sorted,
  column: number,
  items: Int32Array,
  bytes: Float64Array,
  living: Living,
): void {
  for (let at = born.from[column] as number; at < (born.from[column + 1] as number); at++) {
    const row = born.places[at] as number;
    const item = items[row] as number;
    bytes[item] = rows.bytes[row] as number;
    living.come(item);
  }
}

/** Takes away the rows that were alive in `column` for the last time. */
export function bury(died: Sorted, column: number, items: Int32Array, bytes: Float64Array): void {
  for (let at = died.from[column] as number; at < (died.from[column + 1] as number); at++) {
    bytes[items[died.places[at] as number] as number] = 0;
  }
}

/** Brings the gaps up to `column`. */
function change(
  { gaps: { changes } }: Tile,
  changed: Sorted,
  column: number,
  items: Int32Array,
  bytes: Float64Array,
  living: Living,
): void {
  const to = changed.from[column + 1] as number;
  for (let at = changed.from[column] as number; at < to; at++) {
    const place = changed.places[at] as number;
    const item = items[changes.gap[place] as number] as number;
    const before = bytes[item] as number;
    bytes[item] = before + (changes.bytes[place] as number);
    if (before === 0) living.come(item);
  }
}

/**
 * Piles up a column from what lies below the tile. Pixels are covered from their middle on, so that
 * rounding moves no edge by more than half of one, and no error adds up.
 */
function fillColumn(
  sheet: Sheet,
  base: number,
  { columns, merged }: Tile,
  column: number,
  living: Living,
  id: Int32Array,
  bytes: Float64Array,
  shorts: Sorted,
  firsts: Firsts,
): void {
  const { height, ids, low, scale } = sheet;
  const { items, length } = living;
  let top = columns.base[column] as number;
  let from = Math.min(Math.max(sheet.pixel(top), 0), height);
  if (from > 0) sheet.nothing(base, 0, from);
  let kept = 0;
  let at = 0;
  // The innermost loop of all: what has gone is dropped on the way, and nothing is called.
  for (; at < length && from < height; at++) {
    const item = items[at] as number;
    const size = bytes[item] as number;
    if (size === 0) {
      living.gone(item);
      continue;
    }
    items[kept] = item;
    kept += 1;
    top += size;
    // Half a pixel further, so that cutting off the fraction rounds; `edge` may be huge.
    const edge = (top - low) * scale + 0.5;
    if (edge < from + 1) continue;
    const to = edge < height ? edge | 0 : height;
    const thing = id[item] as number;
    // Most are a pixel or two tall: two are filled without asking, the next one goes over the second.
    const place = base + from;
    ids[place] = thing;
    if (from + 1 < height) ids[place + 1] = thing;
    if (to - from > 2) for (let y = place + 2; y < base + to; y++) ids[y] = thing;
    if (size * scale >= TALL) sheet.edge(base + to - 1);
    from = to;
  }
  living.keep(kept, at);
  for (let at = shorts.from[column] as number; at < (shorts.from[column + 1] as number); at++) {
    const cell = shorts.places[at] as number;
    const size = merged.bytes[cell] as number;
    top += size;
    const to = Math.min(Math.max(sheet.pixel(top), from), height);
    if (to > from) sheet.put(base, from, to, firsts.merged + cell, size);
    from = to;
  }
  sheet.nothing(base, from, height);
}
