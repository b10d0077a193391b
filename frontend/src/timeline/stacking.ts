/** Groups stacked on each other, in the server's order: the bytes each one's top lies at. */

import type { Usage } from "../api";

/** Bytes below and including each group, the lowest first: `tops[group][row]`. What is not known is none. */
export function stackTops(usage: Usage): Float64Array[] {
  const sum = new Float64Array(usage.length);
  return usage.groups.map((values) => {
    for (let row = 0; row < sum.length; row++) {
      const bytes = values[row] as number;
      if (!Number.isNaN(bytes)) sum[row] = (sum[row] as number) + bytes;
    }
    return sum.slice();
  });
}

/** The group at a height of `bytes` in a row; -1 above the stack. */
export function groupAt(tops: readonly Float64Array[], row: number, bytes: number): number {
  if (bytes < 0) return -1;
  return tops.findIndex((top) => bytes < (top[row] as number));
}

/** The largest groups of a row: at most `most` indices with bytes, and how many more have some. */
export function largestGroups(
  usage: Usage,
  row: number,
  most: number,
): { readonly top: readonly number[]; readonly more: number; readonly moreBytes: number } {
  const bytes = (index: number) => (usage.groups[index] as Float64Array)[row] as number;
  const held = usage.window.groups.map((_, index) => index).filter((index) => bytes(index) > 0);
  held.sort((a, b) => bytes(b) - bytes(a) || a - b);
  const left = held.slice(most);
  const moreBytes = left.reduce((sum, index) => sum + bytes(index), 0);
  return { top: held.slice(0, most), more: left.length, moreBytes };
}
