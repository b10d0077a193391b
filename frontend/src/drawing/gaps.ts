/** The table of changes of gaps made into gaps, each with a number of its own. */

import type { Changes, Gaps } from "./tile";

interface Table extends Omit<Changes, "gap"> {
  readonly slot: Int32Array;
  readonly band: Uint8Array;
}

/** Bands a slot can have. */
const BANDS = 256;

export function gapsOf({ slot, band, ...changes }: Table): Gaps {
  const keys = Float64Array.from(slot, (place, at) => place * BANDS + (band[at] as number));
  const known = [...new Set(keys)].sort((a, b) => a - b);
  const numbers = new Map(known.map((key, number) => [key, number]));
  return {
    count: known.length,
    slot: Int32Array.from(known, (key) => Math.floor(key / BANDS)),
    band: Uint8Array.from(known, (key) => key % BANDS),
    changes: { ...changes, gap: Int32Array.from(keys, (key) => numbers.get(key) as number) },
  };
}
