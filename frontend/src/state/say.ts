/** What of an allocator's words a plan of the compiler calls otherwise. */

import { isPlan } from "./recording";

const OF_PLAN: Readonly<Record<string, string>> = {
  "alive at the end": "held all the time",
  allocation: "buffer",
  allocations: "buffers",
  before: "the start",
  block: "buffer",
  blocks: "buffers",
  allocated: "in use",
  "allocated (size)": "in use",
  "allocated after it": "in use after it",
  address: "offset",
  module: "computation",
  "not freed": "the end",
  operator: "framework op",
  region: "kind",
  requested: "unpadded",
};

/** `word` as it is said of what is looked at, with a capital where it has one. */
export function say(word: string): string {
  const found = isPlan.value ? OF_PLAN[word.toLowerCase()] : undefined;
  if (found === undefined) return word;
  const hasCapital = word.charAt(0) !== word.charAt(0).toLowerCase();
  return hasCapital ? found.charAt(0).toUpperCase() + found.slice(1) : found;
}
