/** Items of an answer by lane: which is at a place, and which come before and after one. */

import type { TraceItems } from "../../../api";
import { type Range, span } from "../../../timeline/scale";

/** First item of every lane and the end of the last; lanes by track and depth. */
export interface Lanes {
  readonly of: TraceItems;
  readonly first: Int32Array;
  readonly named: ReadonlyMap<string, number>;
}

const known = new WeakMap<TraceItems, Lanes>();
const keyOf = (track: string, depth: number): string => `${track} ${depth}`;

/** The lanes of an answer, worked out once. */
export function lanesOf(of: TraceItems): Lanes {
  const found = known.get(of);
  if (found !== undefined) return found;
  const first = new Int32Array(of.lanes.length + 1).fill(of.length);
  for (let at = of.length - 1; at >= 0; at--) first[of.lane[at] as number] = at;
  // A lane without items begins where the next one does.
  for (let lane = of.lanes.length - 1; lane >= 0; lane--) {
    first[lane] = Math.min(first[lane] as number, first[lane + 1] as number);
  }
  const named = new Map(of.lanes.map(([track, depth], lane) => [keyOf(track, depth), lane]));
  const lanes = { of, first, named };
  known.set(of, lanes);
  return lanes;
}

/** Items of a lane, from one to before another; nothing where the answer does not have it. */
export function itemsIn(lanes: Lanes, track: string, depth: number): readonly [number, number] {
  const lane = lanes.named.get(keyOf(track, depth));
  if (lane === undefined) return [0, 0];
  return [lanes.first[lane] as number, lanes.first[lane + 1] as number];
}

/** The first of the items `from` … `to` - 1 of a lane that ends after `value`; `to` without one. */
export function firstAfter({ of }: Lanes, from: number, to: number, value: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((of.to[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The item of a lane at `value` or at most `slack` from it, the nearest; -1 without one. */
export function itemAt(
  lanes: Lanes,
  lane: { readonly track: string; readonly depth: number },
  value: number,
  slack: number,
): number {
  const [from, to] = itemsIn(lanes, lane.track, lane.depth);
  const next = firstAfter(lanes, from, to, value);
  const off = (at: number): number => {
    if (at < from || at >= to) return Number.POSITIVE_INFINITY;
    const [begin, end] = [lanes.of.from[at] as number, lanes.of.to[at] as number];
    return Math.max(begin - value, value - end, 0);
  };
  const best = off(next - 1) < off(next) ? next - 1 : next;
  return off(best) <= slack ? best : -1;
}

/** The item that stands for a span: it, or what it is merged into; -1 where the answer has neither. */
export function itemOf(
  lanes: Lanes,
  place: { readonly track: string; readonly depth: number; readonly begin: number },
): number {
  const [from, to] = itemsIn(lanes, place.track, place.depth);
  let at = firstAfter(lanes, from, to, place.begin);
  // What lasts for no time ends where it begins.
  while (at > from && (lanes.of.from[at] ?? Number.POSITIVE_INFINITY) > place.begin) at--;
  return at < to ? at : at - 1 >= from ? at - 1 : -1;
}

/** The first depth of a track at which there is more than one item; 0 where there is none. */
export function dividing(of: TraceItems, track: string, depths: number): number {
  const lanes = lanesOf(of);
  for (let depth = 0; depth < depths; depth++) {
    const [from, to] = itemsIn(lanes, track, depth);
    if (to - from > 1) return depth;
  }
  return 0;
}

/** Share of an item's length that something runs in. */
export function busyShare(of: TraceItems, at: number): number {
  const length = span(rangeOf(of, at));
  return length > 0 ? Math.min((of.busy[at] as number) / length, 1) : 1;
}

export const rangeOf = (of: TraceItems, at: number): Range => ({
  begin: of.from[at] as number,
  end: of.to[at] as number,
});
