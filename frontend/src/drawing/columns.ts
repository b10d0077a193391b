/** Which column of which tile each pixel column of a picture shows. */

import type { Tile } from "./tile";

/** A part of the horizontal that one tile is asked about, in axis units. */
export interface Part {
  /** Place of the tile among those of the picture. */
  readonly tile: number;
  readonly begin: number;
  readonly end: number;
}

/** For each pixel column the tile and its column; -1 where nothing is known. */
export interface Chosen {
  readonly tile: Int32Array;
  readonly column: Int32Array;
}

/**
 * Of the bins that begin in a pixel column the one with the highest total, the earliest of equals;
 * where none does, the one that the pixel column is in. The first also has the bin that the window
 * cuts, as in the chart of usage.
 */
export function chooseColumns(
  tiles: readonly Tile[],
  parts: readonly Part[],
  begin: number,
  end: number,
  width: number,
): Chosen {
  const tile = new Int32Array(width).fill(-1);
  const column = new Int32Array(width).fill(-1);
  /** Whether a pixel column shows a bin that begins in it. */
  const begins = new Uint8Array(width);
  const scale = (end - begin) / width;
  for (const part of parts) {
    const { columns, about } = tiles[part.tile] as Tile;
    const first = Math.max(0, Math.floor((part.begin - begin) / scale));
    const last = Math.min(width, Math.ceil((part.end - begin) / scale));
    let next = firstEnding(columns.begin, about.bin, Math.max(begin, part.begin));
    for (let x = first; x < last; x++) {
      const left = begin + x * scale;
      const right = begin + (x + 1) * scale;
      let best = -1;
      while (next < columns.length && (columns.begin[next] as number) < right) {
        const isHigher =
          best < 0 || (columns.total[next] as number) > (columns.total[best] as number);
        if (isHigher) best = next;
        next++;
      }
      const isBegun = best >= 0;
      if (!isBegun) best = holding(columns.begin, about.bin, next - 1, left);
      if (best < 0) continue;
      // Where two parts meet inside a pixel, it is as if they were one.
      const other = tile[x] as number;
      if (other >= 0 && begins[x] === 1 && !isBegun) continue;
      const isEqual = other >= 0 && (begins[x] === 1) === isBegun;
      if (isEqual && totalOf(tiles, other, column[x] as number) >= totalOf(tiles, part.tile, best))
        continue;
      tile[x] = part.tile;
      column[x] = best;
      begins[x] = isBegun ? 1 : 0;
    }
  }
  return { tile, column };
}

const totalOf = (tiles: readonly Tile[], tile: number, column: number): number =>
  (tiles[tile] as Tile).columns.total[column] as number;

/** The column `at` if `place` is in it, else -1: nothing is known between bins. */
function holding(begins: Float64Array, bin: number, at: number, place: number): number {
  return at >= 0 && (begins[at] as number) + bin > place ? at : -1;
}

/** First column that ends after `place`. */
function firstEnding(begins: Float64Array, bin: number, place: number): number {
  let low = 0;
  let high = begins.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((begins[middle] as number) + bin > place) high = middle;
    else low = middle + 1;
  }
  return low;
}
