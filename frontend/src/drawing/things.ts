/** Numbers for everything a picture can show, so that one integer a pixel says what is there. */

import { byValue, eachOf, type Sorted } from "./order";
import type { Gaps, Tile } from "./tile";

/** Nothing is alive there. */
export const NOTHING = -1;
/** It is not known yet what is there. */
export const UNKNOWN = -2;
/** Mapped addresses that nothing alive covers (address layout). */
export const HELD = -3;
/** The lowest number of all. */
export const LOWEST = HELD;

/** What a number stands for: a place in one of the tables of a tile. */
export interface Thing {
  /** Place of the tile among those of the picture. */
  readonly tile: number;
  readonly kind: "row" | "merged" | "gap";
  readonly at: number;
}

/** First number of the rows, merged cells and gaps of each tile; `end` is one past the last. */
export interface Numbering {
  readonly rows: readonly number[];
  readonly merged: readonly number[];
  readonly gaps: readonly number[];
  readonly end: number;
}

export function numbering(tiles: readonly Tile[]): Numbering {
  const rows: number[] = [];
  const merged: number[] = [];
  const gaps: number[] = [];
  let next = 0;
  for (const tile of tiles) {
    rows.push(next);
    merged.push(next + tile.rows.length);
    gaps.push(next + tile.rows.length + tile.merged.length);
    next += tile.rows.length + tile.merged.length + tile.gaps.count;
  }
  return { rows, merged, gaps, end: next };
}

/** First numbers of one tile's things. */
export interface Firsts {
  readonly rows: number;
  readonly merged: number;
  readonly gaps: number;
}

export const firstsOf = (numbers: Numbering, tile: number): Firsts => ({
  rows: numbers.rows[tile] as number,
  merged: numbers.merged[tile] as number,
  gaps: numbers.gaps[tile] as number,
});

/** What `id` stands for; null for the numbers below zero. */
export function thingOf(numbers: Numbering, id: number): Thing | null {
  if (id < 0 || id >= numbers.end) return null;
  // From the last on: of tiles without anything, the number is the next one's too.
  let tile = numbers.rows.length - 1;
  while (tile > 0 && (numbers.rows[tile] as number) > id) tile--;
  const gap = id - (numbers.gaps[tile] as number);
  if (gap >= 0) return { tile, kind: "gap", at: gap };
  const merged = id - (numbers.merged[tile] as number);
  if (merged >= 0) return { tile, kind: "merged", at: merged };
  return { tile, kind: "row", at: id - (numbers.rows[tile] as number) };
}

const changes = new WeakMap<Gaps, Sorted>();

/** The changes of each gap of a tile, worked out once. */
function changesOf(gaps: Gaps): Sorted {
  const { gap, length } = gaps.changes;
  const known = changes.get(gaps) ?? byValue(gap, length, gaps.count);
  changes.set(gaps, known);
  return known;
}

/** Bytes and allocations in a gap at a column: the sum of its changes so far. */
export function gapAt(
  { gaps }: Tile,
  gap: number,
  column: number,
): { readonly bytes: number; readonly count: number } {
  const { column: columns, bytes: sizes, count: counts } = gaps.changes;
  let bytes = 0;
  let count = 0;
  eachOf(changesOf(gaps), gap, (at) => {
    if ((columns[at] as number) > column) return;
    bytes += sizes[at] as number;
    count += counts[at] as number;
  });
  return { bytes, count };
}
