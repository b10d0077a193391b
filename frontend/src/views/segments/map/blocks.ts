/** Looking blocks and holes up in a state: by place, by allocation, by address. */

import type { BlockRows, SegmentState } from "../../../api";
import type { Place } from "./layout";

/** Blocks with the index of every segment's first. */
export interface Source {
  readonly state: SegmentState;
  readonly starts: Int32Array;
}

/** First block of every segment, and one more for the end. */
export function startsOf(blocks: BlockRows, segments: number): Int32Array {
  const starts = new Int32Array(segments + 1);
  for (let row = 0; row < blocks.length; row++) {
    const next = (blocks.segment[row] as number) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  for (let row = 1; row <= segments; row++) {
    starts[row] = (starts[row] as number) + (starts[row - 1] as number);
  }
  return starts;
}

/** First block of a segment that ends after `offset`, between `from` and `stop`. */
export function blockFrom(blocks: BlockRows, from: number, stop: number, offset: number): number {
  let low = from;
  let high = stop;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const end = (blocks.offset[middle] as number) + (blocks.size[middle] as number);
    if (end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What is at a place: a row of blocks, or the free range between two of them. */
export type Thing =
  | { readonly kind: "block"; readonly row: number }
  | { readonly kind: "free"; readonly from: number; readonly to: number };

export function thingAt(
  { blocks, segments }: SegmentState,
  starts: Int32Array,
  { segment, offset }: Place,
): Thing {
  const [from, stop] = [starts[segment] as number, starts[segment + 1] as number];
  const row = blockFrom(blocks, from, stop, offset);
  if (row < stop && (blocks.offset[row] as number) <= offset) return { kind: "block", row };
  const before = row > from ? row - 1 : -1;
  const begin =
    before < 0 ? 0 : (blocks.offset[before] as number) + (blocks.size[before] as number);
  const end = row < stop ? (blocks.offset[row] as number) : (segments.size[segment] as number);
  return { kind: "free", from: begin, to: end };
}

/**
 * What is at `offset` of the segment that lies at `place` on the line of all: from the detail where it
 * knows all of it, else from the `whole`, whose merged blocks say less.
 */
export function thingIn(
  whole: Source,
  detail: Source | null,
  { segment, offset }: Place,
): Thing & { readonly state: SegmentState } {
  const place = whole.state.segments.place[segment] as number;
  const row = detail?.state.segments.place.indexOf(place) ?? -1;
  if (detail !== null && row >= 0) {
    const found = thingAt(detail.state, detail.starts, { segment: row, offset });
    // Of blocks beyond its ends the detail knows nothing: a hole may be shorter than it looks.
    const isKnown = found.kind === "block" || covers(detail, place + found.from, place + found.to);
    if (isKnown) return { ...found, state: detail.state };
  }
  return { ...thingAt(whole.state, whole.starts, { segment, offset }), state: whole.state };
}

/** Whether an answer holds everything between two places on the line of all segments. */
export const covers = ({ state: { about } }: Source, begin: number, end: number): boolean =>
  about.begin <= begin && end <= about.end;

/** A stretch of a segment, in bytes from its beginning. */
export interface Stretch {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** Where the bytes from `address` on are mapped: a stretch in each segment they lie in. */
export function stretchesAt(state: SegmentState, address: string, size: number): Stretch[] {
  const begin = BigInt(address);
  const end = begin + BigInt(Math.max(1, size));
  const found: Stretch[] = [];
  state.segments.address.forEach((low, segment) => {
    const high = low + BigInt(state.segments.size[segment] as number);
    if (end <= low || begin >= high) return;
    const from = begin > low ? Number(begin - low) : 0;
    const to = Number((end < high ? end : high) - low);
    found.push({ segment, from, to });
  });
  return found;
}
