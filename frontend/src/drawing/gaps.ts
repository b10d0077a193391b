/** The table of changes of gaps made into gaps, each with a number of its own. */

import type { Changes, Gaps } from "./tile";

interface Table extends Omit<Changes, "gap"> {
  readonly slot: Int32Array;
  readonly part: Int32Array;
  readonly band: Uint8Array;
  readonly hit: Uint8Array;
  readonly mixed: Uint8Array;
}

/** Kinds a part can have: bands, hits and others. */
const KINDS = 2 * 256;

export function gapsOf({ slot, part, band, hit, mixed, ...changes }: Table): Gaps {
  const keys = Float64Array.from(
    part,
    (place, at) => place * KINDS + 2 * (band[at] as number) + (hit[at] as number),
  );
  const first = new Map<number, number>();
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as number;
    if (!first.has(key)) first.set(key, at);
  }
  const known = [...first.keys()].sort((a, b) => a - b);
  const numbers = new Map(known.map((key, number) => [key, number]));
  const of = <T extends Int32Array | Uint8Array>(column: T) =>
    known.map((key) => column[first.get(key) as number] as number);
  return {
    count: known.length,
    slot: Int32Array.from(of(slot)),
    band: Uint8Array.from(of(band)),
    hit: Uint8Array.from(of(hit)),
    mixed: Uint8Array.from(of(mixed)),
    changes: { ...changes, gap: Int32Array.from(keys, (key) => numbers.get(key) as number) },
  };
}
