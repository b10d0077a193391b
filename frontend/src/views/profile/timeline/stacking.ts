/** Groups stacked on each other: the order they stand in, and the bytes each one's top lies at. */

import type { Usage, UsageGroup } from "../../../api";
import { BEFORE_KEY, REST_KEY } from "../../../theme/palette";

/** Categories from the bottom of the picture up, as the recording's schema orders them. */
const CATEGORY_ORDER = [
  "parameter",
  "optimizer state",
  "gradient",
  "activation",
  "input",
  "temporary",
  "autograd detail",
  "unknown",
];

/**
 * Indices of `groups` from the bottom of the stack up: categories in their fixed order, other groups
 * as the server sent them (largest first), then the rest, then what was there before the window.
 */
export function stackingOrder(groups: readonly UsageGroup[]): number[] {
  const rank = (index: number): number => {
    const group = groups[index] as UsageGroup;
    if (group.key === BEFORE_KEY) return CATEGORY_ORDER.length + 2;
    if (group.key === REST_KEY) return CATEGORY_ORDER.length + 1;
    const category = CATEGORY_ORDER.indexOf(categoryOf(group));
    return category < 0 ? CATEGORY_ORDER.length : category;
  };
  return groups.map((_, index) => index).sort((a, b) => rank(a) - rank(b) || a - b);
}

/** The category a group is, "" for a group by something else. */
export function categoryOf(group: UsageGroup): string {
  return (group.category ?? "").replace(/_/g, " ").toLowerCase();
}

/** Is this group memory whose origin the recording does not know? Drawn grey. */
export function isUnattributed(group: UsageGroup): boolean {
  return group.key === BEFORE_KEY || categoryOf(group) === "unknown";
}

/** Bytes below and including each layer, bottom first: `tops[layer][row]`. */
export function stackTops(usage: Usage, order: readonly number[]): Float64Array[] {
  const sum = new Float64Array(usage.allocated.length);
  return order.map((index) => {
    const values = usage.groups[index] as Float64Array;
    for (let row = 0; row < sum.length; row++)
      sum[row] = (sum[row] as number) + (values[row] as number);
    return sum.slice();
  });
}

/** The layer at a height of `bytes` in a row; -1 above the stack. */
export function layerAt(tops: readonly Float64Array[], row: number, bytes: number): number {
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
