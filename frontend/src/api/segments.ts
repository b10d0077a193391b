/** The segments and pools answers, Arrow IPC streams, turned into plain typed arrays. */

import { type Table, tableFromIPC } from "@uwdata/flechette";
import { streamsOf } from "./streams";
import type { Axis, UsageGroup } from "./types";

export interface Measure {
  /** Null where there is nothing to divide. */
  value: number | null;
  formula: string;
}

/** Sums of a pool and stream. */
export interface PoolSums {
  key: string;
  label: string;
  reserved: number;
  used: number;
  requested: number;
  pending: number;
  free: number;
  largest_free: number;
  segments: number;
  blocks: number;
}

/** Metadata `state` of the segments answer. */
export interface StateAbout {
  device: string;
  event: number;
  time: number | null;
  step: number | null;
  basis: "requested" | "size";
  allocated: number;
  reserved: number | null;
  /** What the segments add up to. */
  mapped: number;
  used: number;
  requested: number;
  pending: number;
  free: number;
  largest_free: number;
  count: number;
  blocks: number;
  fragmentation: { reserved: Measure; free_list: Measure };
  outside: { count: number; bytes: number };
  problems: string[];
  pools: PoolSums[];
  kinds: string[];
  /** Blocks smaller than this are merged. */
  pixel: number;
  begin: number;
  end: number;
  hidden: { segments: number; bytes: number };
  /** What blocks are grouped by, where that was asked for. */
  by?: string;
  groups?: UsageGroup[];
  /** What passes the filter, where one was asked for. */
  passing?: { blocks: number; requested: number; used: number };
}

/** One row a segment, by pool, stream and address. */
export interface SegmentRows {
  length: number;
  address: bigint[];
  size: Float64Array;
  /** Where it begins on the line that all segments make. */
  place: Float64Array;
  group: Float64Array;
  kind: Float64Array;
  expandable: Float64Array;
  birth: Float64Array;
  ranges: Float64Array;
  blocks: Float64Array;
  holes: Float64Array;
  largestOffset: Float64Array;
  largestFree: Float64Array;
  used: Float64Array;
  requested: Float64Array;
  pending: Float64Array;
}

/** One row a block, or several merged; by segment and offset. */
export interface BlockRows {
  length: number;
  segment: Float64Array;
  offset: Float64Array;
  /** From the first byte to the last. */
  size: Float64Array;
  used: Float64Array;
  requested: Float64Array;
  pending: Float64Array;
  count: Float64Array;
  inferred: Float64Array;
  /** -1 where several are merged. */
  allocation: Float64Array;
  /** Place of its group, -1 where several are merged; empty where no grouping was asked for. */
  band: Float64Array;
  /** Bytes of `used` that pass the filter; empty where none was asked for. */
  passing: Float64Array;
}

export interface SegmentState {
  about: StateAbout;
  segments: SegmentRows;
  blocks: BlockRows;
}

export interface PoolWindow {
  axis: Axis;
  begin: number;
  end: number;
  bin: number;
  groups: { key: string; label: string; reserved_peak: number | null }[];
  problems: string[];
}

/** Bytes of every pool and stream at the instants of the usage answer. */
export interface Pools {
  window: PoolWindow;
  length: number;
  begin: Float64Array;
  end: Float64Array;
  event: Float64Array;
  reserved: Float64Array[];
  allocated: Float64Array[];
}

function numbers(table: Table, name: string): Float64Array {
  const values = table.getChild(name)?.toArray() ?? [];
  return Float64Array.from(values as ArrayLike<number | bigint>, Number);
}

function described<T>(table: Table, name: string): T {
  const text = table.schema.metadata?.get(name);
  if (!text) throw new Error(`The answer has no ${name} in its metadata.`);
  return JSON.parse(text) as T;
}

/** Decodes the body of `segments`. Throws where it is not one. */
export function decodeSegments(body: Uint8Array): SegmentState {
  const [first, second] = streamsOf(body).map((part) => tableFromIPC(part, { useBigInt: true }));
  if (!first || !second) throw new Error("The segments answer has not two tables.");
  const of = (table: Table) => (name: string) => numbers(table, name);
  const [segment, block] = [of(first), of(second)];
  return {
    about: described<StateAbout>(first, "state"),
    segments: {
      length: first.numRows,
      address: Array.from((first.getChild("address")?.toArray() ?? []) as ArrayLike<bigint>),
      size: segment("size"),
      place: segment("place"),
      group: segment("group"),
      kind: segment("kind"),
      expandable: segment("expandable"),
      birth: segment("birth"),
      ranges: segment("ranges"),
      blocks: segment("blocks"),
      holes: segment("holes"),
      largestOffset: segment("largest_offset"),
      largestFree: segment("largest_free"),
      used: segment("used"),
      requested: segment("requested"),
      pending: segment("pending"),
    },
    blocks: {
      length: second.numRows,
      segment: block("segment"),
      offset: block("offset"),
      size: block("size"),
      used: block("used"),
      requested: block("requested"),
      pending: block("pending"),
      count: block("count"),
      inferred: block("inferred"),
      allocation: block("allocation"),
      band: block("band"),
      passing: block("passing"),
    },
  };
}

/** Decodes the body of `pools`. Throws where it is not one. */
export function decodePools(body: Uint8Array): Pools {
  const table = tableFromIPC(body, { useBigInt: true });
  const window = described<PoolWindow>(table, "window");
  return {
    window,
    length: table.numRows,
    begin: numbers(table, "begin"),
    end: numbers(table, "end"),
    event: numbers(table, "event"),
    reserved: window.groups.map((_, index) => numbers(table, `r${index}`)),
    allocated: window.groups.map((_, index) => numbers(table, `a${index}`)),
  };
}
