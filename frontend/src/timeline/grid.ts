/** Which window to ask the server for, on its power-of-two grid, so that pans and zooms hit a cache. */

import { type Range, span } from "./scale";

/** A usage request: the server answers `width` bins of `bin` units, from `begin` to `end`. */
export interface Tile extends Range {
  readonly bin: number;
  readonly width: number;
}

/** Bins in one block of the grid that windows are aligned to. */
const BLOCK = 256;
/** Share of the window loaded beyond each side of it, so that small pans need no request. */
const OVERSCAN = 0.125;

/** Units a bin: the largest power of two that still gives `width` bins to a range. */
export function binSize(size: number, width: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(size / Math.max(width, 1))));
}

/** The aligned tile that holds `window` at one bin a pixel or finer. */
export function tileFor(window: Range, whole: Range, width: number): Tile {
  const bin = binSize(span(window), width);
  const block = bin * BLOCK;
  const margin = span(window) * OVERSCAN;
  const begin = Math.floor((window.begin - margin) / block) * block;
  const end = Math.ceil((window.end + margin) / block) * block;
  const from = Math.max(begin, Math.floor(whole.begin));
  const to = Math.max(Math.min(end, Math.ceil(whole.end)), from + 1);
  return { begin: from, end: to, bin, width: Math.max(1, Math.floor((to - from) / bin)) };
}

/** Does a loaded tile show `window` as finely as a new request would? */
export function covers(tile: Tile, window: Range, whole: Range, width: number): boolean {
  return (
    tile.bin <= binSize(span(window), width) &&
    tile.begin <= Math.max(window.begin, whole.begin) &&
    tile.end >= Math.min(window.end, whole.end) &&
    // A far finer tile would be right too, but costs more to draw than to fetch again.
    tile.width <= width * 8
  );
}
