/** Which bin each pixel column shows, so that where several bins share a column the highest is seen. */

import type { Usage } from "../../../api";
import { rowAt, rowAtOrAfter } from "./rows";
import { type Range, toValue } from "./scale";

/** Nothing is known of the column. */
export const NO_ROW = -1;

/**
 * Row shown by each of `width` columns when `window` fills them.
 *
 * A column wider than a bin shows the bin with the most allocated that begins in it: averaging would
 * lose peaks. (The first column also counts the bin that the window cuts.) A column narrower than a bin shows the bin it is in, and one in a gap between bins what
 * stood last before the gap. Columns outside what is loaded show nothing.
 */
export function columnRows(usage: Usage, window: Range, width: number): Int32Array {
  const rows = new Int32Array(width).fill(NO_ROW);
  const count = usage.length;
  if (count === 0 || width === 0) return rows;
  let next = rowAtOrAfter(usage, toValue(window, width, 0));
  for (let column = 0; column < width; column++) {
    const left = toValue(window, width, column);
    const right = toValue(window, width, column + 1);
    if (right <= usage.window.begin || left >= usage.window.end) continue;
    let best = NO_ROW;
    while (next < count && (usage.begin[next] as number) < right) {
      const inside = (usage.begin[next] as number) >= left || column === 0;
      if (inside && isHigher(usage, next, best)) best = next;
      next++;
    }
    rows[column] = best === NO_ROW ? rowAt(usage, left) : best;
  }
  return rows;
}

function isHigher(usage: Usage, row: number, best: number): boolean {
  return best === NO_ROW || (usage.allocated[row] as number) > (usage.allocated[best] as number);
}

/** Calls `visit` for every run of columns that show the same row, left to right. */
export function eachRun(
  rows: Int32Array,
  visit: (row: number, from: number, to: number) => void,
): void {
  let from = 0;
  for (let column = 1; column <= rows.length; column++) {
    if (column < rows.length && rows[column] === rows[from]) continue;
    if (rows[from] !== NO_ROW) visit(rows[from] as number, from, column);
    from = column;
  }
}

/** The shown row nearest to a column, looking both ways; `NO_ROW` when none is shown at all. */
export function nearestRow(rows: Int32Array, column: number): number {
  const start = Math.min(Math.max(Math.round(column), 0), rows.length - 1);
  for (let distance = 0; distance < rows.length; distance++) {
    for (const at of [start - distance, start + distance]) {
      const row = rows[at];
      if (row !== undefined && row !== NO_ROW) return row;
    }
  }
  return NO_ROW;
}
