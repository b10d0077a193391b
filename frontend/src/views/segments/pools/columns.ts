/** Which bins of a pools answer each pixel column shows: of several the one with the most allocated. */

import type { Pools } from "../../../api";
import { type Range, toPixel } from "../../../timeline/scale";

/** Bytes of one pool in every column; NaN where nothing is known. */
export interface Envelope {
  readonly reserved: Float64Array;
  readonly allocated: Float64Array;
}

/**
 * One pool over `columns` columns of `window`. Reserved is the most of the bins in a column, and so
 * is allocated: neither loses its peak.
 */
export function envelope(pools: Pools, group: number, window: Range, columns: number): Envelope {
  const reserved = new Float64Array(columns).fill(Number.NaN);
  const allocated = new Float64Array(columns).fill(Number.NaN);
  const [held, used] = [pools.reserved[group], pools.allocated[group]];
  if (held === undefined || used === undefined) return { reserved, allocated };
  for (let row = 0; row < pools.length; row++) {
    const first = toPixel(window, columns, pools.begin[row] as number);
    // What stood last stays until the next bin that has a value.
    const next = row + 1 < pools.length ? pools.begin[row + 1] : pools.end[row];
    const last = toPixel(window, columns, next as number);
    if (last <= 0 || first >= columns) continue;
    const from = Math.max(0, Math.floor(first));
    const to = Math.min(columns, Math.max(Math.ceil(last), from + 1));
    for (let column = from; column < to; column++) {
      reserved[column] = larger(reserved[column], held[row] as number);
      allocated[column] = larger(allocated[column], used[row] as number);
    }
  }
  return { reserved, allocated };
}

const larger = (known: number | undefined, value: number): number =>
  known === undefined || Number.isNaN(known) ? value : Math.max(known, value);
