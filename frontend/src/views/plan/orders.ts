/** Buffers in three orders, one after the other on a bar: which is where, and which is under a point. */

import type { PlanBars } from "../../api/bars";

export type OrderKey = "program" | "size" | "padding";

/** Stands for all that are too small to be seen by themselves. */
export const REST = -1;

/** A bar: rows of the answer in its order, and the bytes before each of them. */
export interface Order {
  readonly key: OrderKey;
  readonly rows: Int32Array;
  /** One more than rows: where the last ends, and what is small begins. */
  readonly edges: Float64Array;
}

export interface Ordered {
  readonly orders: readonly Order[];
  readonly total: number;
  readonly rest: { readonly count: number; readonly bytes: number };
}

/** Pixels under which a buffer is not drawn by itself, and the least where all of them are small. */
const SEEN = 1;
const LEAST = 1 / 16;

/** The bars of an answer for bars `width` pixels wide. */
export function ordered(bars: PlanBars, width: number): Ordered {
  const rows = rowsDrawn(bars, width);
  const restBytes = rows.reduce((left, row) => left - (bars.bytes[row] as number), bars.total);
  const size = (row: number) => bars.bytes[row] as number;
  const padding = (row: number) => size(row) - (bars.unpadded[row] as number);
  const bySize = [...rows].sort((a, b) => size(b) - size(a) || a - b);
  const byPadding = [...rows].sort((a, b) => padding(b) - padding(a) || size(b) - size(a) || a - b);
  return {
    orders: [
      order("program", rows, bars),
      order("size", bySize, bars),
      order("padding", byPadding, bars),
    ],
    total: bars.total,
    rest: { count: bars.count - rows.length, bytes: restBytes },
  };
}

/** Rows that are drawn by themselves; one that is small alone is one of them. */
function rowsDrawn(bars: PlanBars, width: number): number[] {
  const least = leastOf(bars, width);
  const every = Array.from(bars.bytes, (_, row) => row);
  const rows = every.filter((row) => (bars.bytes[row] as number) >= least);
  return bars.count - rows.length === 1 && bars.leftOut === 0 ? every : rows;
}

/** The bytes from which on buffers are drawn: a pixel, or less while that would hide half of all. */
function leastOf({ bytes, total }: PlanBars, width: number): number {
  let least = (SEEN * total) / Math.max(width, 1);
  const end = (LEAST * total) / Math.max(width, 1);
  while (least > end && sumFrom(bytes, least) < total / 2) least /= 2;
  return least;
}

const sumFrom = (bytes: Float64Array, least: number): number =>
  bytes.reduce((sum, size) => (size >= least ? sum + size : sum), 0);

function order(key: OrderKey, rows: readonly number[], { bytes }: PlanBars): Order {
  const edges = new Float64Array(rows.length + 1);
  rows.forEach((row, place) => {
    edges[place + 1] = (edges[place] as number) + (bytes[row] as number);
  });
  return { key, rows: Int32Array.from(rows), edges };
}

/** The place on a bar that holds the byte `at`; REST for what is small, null beside it. */
export function placeAt({ edges }: Order, at: number, total: number): number | null {
  if (at < 0 || at >= total) return null;
  const end = edges.at(-1) as number;
  if (at >= end) return REST;
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((edges[middle] as number) <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** The row at a place. */
export const rowAt = ({ rows }: Order, place: number): number =>
  place === REST ? REST : (rows[place] as number);

/** Where a row is on a bar; null where it is not drawn by itself. */
export function spanOf(of: Order, row: number, total: number): [number, number] | null {
  if (row === REST) return [of.edges.at(-1) as number, total];
  const place = of.rows.indexOf(row);
  return place < 0 ? null : [of.edges[place] as number, of.edges[place + 1] as number];
}

/** The place that a key leads to from `place` (null: none yet) on a bar; REST is the last one. */
export function step(
  of: Order,
  place: number | null,
  key: string,
  hasRest: boolean,
): number | null {
  const last = of.rows.length - 1 + (hasRest ? 1 : 0);
  if (last < 0) return null;
  const at = place === REST ? of.rows.length : (place ?? -1);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[key];
  if (to === undefined) return place;
  const next = Math.min(Math.max(to, 0), last);
  return next === of.rows.length ? REST : next;
}
