/** Which of the two formulas of fragmentation an answer has, and what it gives. */

import type { Usage } from "../api";
import { FRAGMENTATION, FREE_LIST, fragmentation } from "./height";
import { known } from "./rows";
import { isByArea } from "./scene";

/** The plotted formula where reserved is known, else the one that the allocator reports; null for none. */
export function formulaOf(usage: Usage): string | null {
  if (usage.window.has_reserved && !isByArea(usage)) return FRAGMENTATION;
  return usage.window.has_fragmentation ? FREE_LIST : null;
}

/** Fragmentation of a row, 0 to 1; null where it is not known. */
export function wasted(usage: Usage, row: number): number | null {
  if (row < 0) return null;
  if (formulaOf(usage) === FREE_LIST) return known(usage.fragmentation[row]);
  return fragmentation(usage.allocated[row] as number, known(usage.reserved[row]));
}
