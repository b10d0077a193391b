/** Which bin each pixel column shows, so that where several bins share a column the highest is seen. */

import type { Usage } from "../api";
import { rowAt, rowAtOrAfter } from "./rows";
import { type Range, toValue } from "./scale";

/** Nothing is known of the column. */
export const NO_ROW = -1;

/** Rows `first` up to `last` of a column; `first` < 0 where nothing is known of it. */
type Visit = (column: number, first: number, last: number) => void;

/**
 * Visits `width` columns that `window` fills, with the rows each stands for: those that begin in it,
 * or, where none does, the one it is in or what stood last before a gap. The first column also has
 * the bin that the window cuts.
 */
function eachColumn(usage: Usage, window: Range, width: number, visit: Visit): void {
  let next = rowAtOrAfter(usage, window.begin);
  for (let column = 0; column < width; column++) {
    const left = toValue(window, width, column);
    const right = toValue(window, width, column + 1);
    if (right <= usage.window.begin || left >= usage.window.end) continue;
    const first = next;
    while (next < usage.length && (usage.begin[next] as number) < right) next++;
    if (next > first) visit(column, first, next);
    else {
      const row = rowAt(usage, left);
      visit(column, row, row + 1);
    }
  }
}

/**
 * Row shown by each column: of those it stands for the highest, the earliest of equals, because
 * averaging would lose peaks. `NO_ROW` where nothing is known.
 */
export function columnRows(usage: Usage, window: Range, width: number): Int32Array {
  const rows = new Int32Array(width).fill(NO_ROW);
  eachColumn(usage, window, width, (column, first, last) => {
    let best = NO_ROW;
    for (let row = Math.max(first, 0); row < last; row++) {
      const level = usage.level[row] as number;
      // What is not known leaves a gap.
      if (Number.isNaN(level)) continue;
      if (best === NO_ROW || level > (usage.level[best] as number)) best = row;
    }
    rows[column] = best;
  });
  return rows;
}

/** The highest of `values` among the rows each column stands for; NaN where nothing is known. */
export function columnMaxima(
  usage: Usage,
  values: Float64Array,
  window: Range,
  width: number,
): Float64Array {
  const maxima = new Float64Array(width).fill(Number.NaN);
  eachColumn(usage, window, width, (column, first, last) => {
    for (let row = Math.max(first, 0); row < last; row++) {
      const value = values[row] as number;
      const most = maxima[column] as number;
      if (Number.isNaN(most) || value > most) maxima[column] = value;
    }
  });
  return maxima;
}

/** Columns that one answer leaves empty, taken from another's rows (`NO_ROW` elsewhere). */
export function onlyWhereEmpty(under: Int32Array, over: Int32Array): Int32Array {
  return under.map((row, column) => (over[column] === NO_ROW ? row : NO_ROW));
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
