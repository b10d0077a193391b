/** One tile of the picture of lives (the answer of `GET tile`), as plain typed arrays. */

import type { Axis, UsageGroup } from "../api/types";
import type { Layout } from "../state/view";

/** Addresses side by side that were ever used (address layout), and where they lie in the picture. */
export interface Stretch {
  readonly offset: number;
  readonly size: number;
  readonly address: string;
}

/** What was too much for one answer. */
export interface Hidden {
  /** Lives that are not drawn by themselves though large enough, and their bytes. */
  readonly rows: number;
  readonly bytes: number;
  /** Lives that are not drawn at all, as their strips are the smallest of too many. */
  readonly left: number;
  readonly left_bytes: number;
  /** Mapped ranges that are not in `mapped`, and their bytes. */
  readonly ranges: number;
  readonly range_bytes: number;
}

/** Metadata `tile` of the answer. */
export interface TileAbout {
  readonly level: number;
  readonly index: number;
  /** Axis units a column. */
  readonly bin: number;
  readonly axis: Axis;
  readonly layout: Layout;
  readonly low: number;
  readonly high: number;
  readonly height: number;
  /** Bytes a pixel: what is smaller is not a row. */
  readonly pixel: number;
  readonly by: string;
  readonly groups: readonly UsageGroup[];
  readonly hidden: Hidden;
  /** Height of the whole picture in bytes. */
  readonly extent: number;
  /** What the search finds in the whole recording; null where nothing is searched for. */
  readonly hits: { readonly count: number; readonly bytes: number } | null;
  readonly segments?: readonly Stretch[];
  /** Whether the recording knows what is mapped (address layout). */
  readonly mapped_known?: boolean;
  /** What is alive and has no address, so that it is nowhere (address layout). */
  readonly unplaced?: { readonly count: number; readonly bytes: number };
}

/** One instant a column: the highest of its bin. */
export interface Columns {
  readonly length: number;
  readonly begin: Float64Array;
  readonly event: Float64Array;
  /** NaN where the recording has no time stamps. */
  readonly time: Float64Array;
  readonly total: Float64Array;
  readonly count: Float64Array;
  /** Bytes of what lies wholly below the tile's `low`. */
  readonly base: Float64Array;
}

/** Allocations large enough to be drawn by themselves, in stack order. */
export interface Rows {
  readonly length: number;
  readonly allocation: Int32Array;
  /** First and last column it is alive in. */
  readonly first: Uint16Array;
  readonly last: Uint16Array;
  readonly bytes: Float64Array;
  readonly band: Uint8Array;
  readonly hit: Uint8Array;
  readonly offset: Float64Array;
  /** Whether it is there from before the first event to the end. */
  readonly lasting: Uint8Array;
}

/** What is too small to be drawn: gaps by place in the stack, band and hit, in that order. */
export interface Gaps {
  readonly count: number;
  /** It comes before the row of this number. */
  readonly slot: Int32Array;
  readonly band: Uint8Array;
  /** Whether it is found; where it is `mixed`, whether any of it is. */
  readonly hit: Uint8Array;
  /** Whether it is of several bands, and `band` that of most of it. */
  readonly mixed: Uint8Array;
  readonly changes: Changes;
}

/** Changes of gaps, column by column. */
export interface Changes {
  readonly length: number;
  /** Which gap. */
  readonly gap: Int32Array;
  readonly column: Uint16Array;
  readonly bytes: Float64Array;
  readonly count: Int32Array;
}

/**
 * Lives summed up by band: stacked, those of one column only; with fixed places, small ones that
 * stand in one place, at least one of them in each of the columns, from the bottom up.
 */
export interface Merged {
  readonly length: number;
  /** First and last column. */
  readonly column: Uint16Array;
  readonly last: Uint16Array;
  readonly band: Uint8Array;
  readonly bytes: Float64Array;
  readonly count: Int32Array;
  /** The one it is, where it is one; else -1. */
  readonly allocation: Int32Array;
  readonly hit: Uint8Array;
  readonly offset: Float64Array;
  /** Pixels (of the tile) from the offset up, with fixed places. */
  readonly tall: Uint16Array;
}

/** Ranges that are mapped in some columns, of one range of addresses each; none in other layouts. */
export interface Mapped {
  readonly length: number;
  readonly first: Uint16Array;
  readonly last: Uint16Array;
  readonly offset: Float64Array;
  readonly size: Float64Array;
}

export const NONE_MAPPED: Mapped = {
  length: 0,
  first: new Uint16Array(0),
  last: new Uint16Array(0),
  offset: new Float64Array(0),
  size: new Float64Array(0),
};

export interface Tile {
  readonly about: TileAbout;
  readonly columns: Columns;
  readonly rows: Rows;
  readonly gaps: Gaps;
  readonly merged: Merged;
  readonly mapped: Mapped;
  /** Bytes of the block of each row, its rounding included (address layout); else empty. */
  readonly blocks: Float64Array;
}

const arraysOf = ({ columns, rows, gaps, merged, mapped, blocks }: Tile): ArrayBufferView[] =>
  [columns, rows, gaps, gaps.changes, merged, mapped, { blocks }].flatMap((table) =>
    Object.values(table).filter((value): value is ArrayBufferView => ArrayBuffer.isView(value)),
  );

/** Bytes that a tile takes in memory. */
export const sizeOf = (tile: Tile): number =>
  arraysOf(tile).reduce((sum, { byteLength }) => sum + byteLength, 0);

/** The buffers of a tile, to be handed to another thread with it. */
export const buffersOf = (tile: Tile): ArrayBuffer[] => [
  ...new Set(arraysOf(tile).map(({ buffer }) => buffer as ArrayBuffer)),
];
