/** Steps and annotations laid out as boxes in rows, and which of them is under the pointer. */

import type { TrackItem } from "../api";
import { type Range, toPixel } from "./scale";

export interface Box {
  readonly item: TrackItem;
  readonly row: number;
  /** Pixels, cut to the plot. */
  readonly left: number;
  readonly right: number;
}

/** Narrowest box that can still be seen. */
const THINNEST = 1;

/** Boxes of the items in view, a row a depth, cut to `width` pixels. */
export function layOut(items: readonly TrackItem[], window: Range, width: number): Box[] {
  const boxes: Box[] = [];
  for (const item of items) {
    if (item.end < window.begin || item.begin > window.end) continue;
    const left = Math.max(0, toPixel(window, width, item.begin));
    const right = Math.min(width, toPixel(window, width, item.end));
    const start = Math.min(left, width - THINNEST);
    boxes.push({
      item,
      row: item.depth ?? 0,
      left: start,
      right: Math.max(right, start + THINNEST),
    });
  }
  return boxes;
}

/** How many rows the items need. */
export function rowsOf(items: readonly TrackItem[]): number {
  return items.reduce((most, item) => Math.max(most, (item.depth ?? 0) + 1), 0);
}

/** The box at a pixel, with a little help for thin ones: the narrowest within `slack` of it. */
export function boxAt(boxes: readonly Box[], row: number, x: number, slack = 2): Box | null {
  let best: Box | null = null;
  for (const box of boxes) {
    if (box.row !== row || x < box.left - slack || x > box.right + slack) continue;
    if (best === null || distance(box, x) < distance(best, x)) best = box;
    else if (distance(box, x) === distance(best, x) && breadth(box) < breadth(best)) best = box;
  }
  return best;
}

function distance(box: Box, x: number): number {
  return Math.max(box.left - x, x - box.right, 0);
}

function breadth(box: Box): number {
  return box.right - box.left;
}

const NUMBERED = /[ #](\d+)$/;

/**
 * `text` made to fit `room` pixels: of a numbered one ("step 7") the number, since its beginning
 * says nothing; else cut with an ellipsis; "" where not even three characters would be left.
 */
export function fitText(text: string, room: number, measure: (text: string) => number): string {
  if (measure(text) <= room) return text;
  const number = NUMBERED.exec(text)?.[1];
  if (number !== undefined) return measure(number) <= room ? number : "";
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (measure(`${text.slice(0, middle)}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : `${text.slice(0, low).trimEnd()}…`;
}
