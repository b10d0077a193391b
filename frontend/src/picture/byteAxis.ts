/** Ticks of a vertical that need not begin at zero. */

import { bytes } from "../format";
import { type Range, span } from "../timeline/scale";
import { byteTicks, type Tick } from "../timeline/ticks";

/** With `base`, labels count from there. */
export interface ByteTicks {
  readonly ticks: readonly Tick[];
  readonly base: string | null;
}

/** Where labels would need more digits than this many steps, they count from the lowest tick. */
const FAR = 2048;

/** Powers of two of bytes apart, at most about `most` of them. */
export function byteRangeTicks(range: Range, most: number): ByteTicks {
  if (range.begin === 0) return { ticks: byteTicks(range.end, most), base: null };
  const step = Math.max(1, 2 ** (Math.floor(Math.log2(span(range) / most)) + 1));
  const first = Math.ceil(range.begin / step) * step;
  if (range.end / step < FAR) {
    const all = byteTicks(range.end, Math.ceil(range.end / step));
    return { ticks: all.filter(({ value }) => value >= first), base: null };
  }
  const relative = byteTicks(range.end - first, most);
  return {
    ticks: relative.map(({ value, label }) => ({ value: first + value, label: `+${label}` })),
    base: bytes(first),
  };
}
