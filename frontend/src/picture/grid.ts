/** Which tiles a window needs: on power-of-two grids in both directions, so that answers can be kept. */

import { binSize } from "../timeline/grid";
import { type Range, span } from "../timeline/scale";

/** Columns of a tile. */
export const COLUMNS = 512;
/** Pixels of the vertical grid that tiles begin and end on. */
const STEP = 256;
/** The finest vertical a tile is asked for, and the most pixels: the server's limit. */
const TALLEST = 16_384;

/** The place of a tile on the horizontal: columns of 2^level axis units, `index` tiles from 0. */
export interface Place {
  readonly level: number;
  readonly index: number;
}

/** The vertical of a tile. */
export interface Shape {
  readonly low: number;
  readonly high: number;
  /** Pixels, each a power of two of bytes. */
  readonly height: number;
}

export function rangeOf({ level, index }: Place): Range {
  const size = COLUMNS * 2 ** level;
  return { begin: index * size, end: (index + 1) * size };
}

/** The level that shows a window that fills `width` pixels: one bin a pixel or finer. */
export const levelFor = (window: Range, width: number): number =>
  Math.log2(binSize(span(window), width));

/** The tiles of a level that show a range, left to right. */
export function placesAt(level: number, range: Range, whole: Range): Place[] {
  const size = COLUMNS * 2 ** level;
  const begin = Math.max(range.begin, whole.begin);
  const end = Math.min(range.end, whole.end);
  const places: Place[] = [];
  for (let index = Math.floor(begin / size); index * size < end; index++) {
    places.push({ level, index });
  }
  return places;
}

/** The tiles for a window that fills `width` pixels. */
export const placesFor = (window: Range, whole: Range, width: number): Place[] =>
  placesAt(levelFor(window, width), window, whole);

/** The tiles to the left and to the right of `places`, where there is anything. */
export function besides(places: readonly Place[], whole: Range): Place[] {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return [];
  const found = [
    { level: last.level, index: last.index + 1 },
    { level: first.level, index: first.index - 1 },
  ];
  return found.filter((place) => {
    const { begin, end } = rangeOf(place);
    return begin < whole.end && end > whole.begin;
  });
}

/** The vertical for `bytes` that fill `height` pixels: a pixel of the tile is at most one of those. */
export function shapeFor(bytes: Range, height: number): Shape {
  let pixel = 2 ** Math.max(0, Math.floor(Math.log2(span(bytes) / Math.max(height, 1))));
  for (;;) {
    const step = STEP * pixel;
    const low = Math.max(0, Math.floor(bytes.begin / step) * step);
    const high = Math.max(low + step, Math.ceil(bytes.end / step) * step);
    if ((high - low) / pixel <= TALLEST) return { low, high, height: (high - low) / pixel };
    pixel *= 2;
  }
}
