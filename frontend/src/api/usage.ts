/** The usage answer, an Arrow IPC stream, turned into plain typed arrays. */

import { type Table, tableFromIPC } from "@uwdata/flechette";
import type { UsageWindow } from "./types";

/** One row a bin that has a value; see `usage` in docs/architecture.md. */
export interface Usage {
  window: UsageWindow;
  length: number;
  /** Bounds of the bins, in units of the axis. */
  begin: Float64Array;
  end: Float64Array;
  /** Ordinal of the instant shown: that of the highest `level` in the bin. */
  event: Float64Array;
  /** ns since the origin; NaN where the recording has no time stamps. */
  time: Float64Array;
  allocated: Float64Array;
  /** What the picture is as high as: allocated, or by area stack + heap. NaN where that is not known. */
  level: Float64Array;
  /** Of the free list, as the allocator says; NaN where it does not. */
  fragmentation: Float64Array;
  /** NaN where reserved is not known. */
  reserved: Float64Array;
  reservedMax: Float64Array;
  /** Bytes of each group at the instant, in the order of `window.groups`. */
  groups: Float64Array[];
}

/** What the groups of an answer by area are grouped by. */
export const AREA = "area";

/** Stack + heap; an allocator that says nothing of a stack has none. */
const sumOf = (stack: Float64Array, heap: Float64Array): Float64Array =>
  heap.map((bytes, row) => bytes + known(stack[row]));

const known = (bytes: number | undefined): number =>
  bytes === undefined || Number.isNaN(bytes) ? 0 : bytes;

function column(table: Table, name: string): Float64Array {
  const source = table.getChild(name);
  const values = new Float64Array(table.numRows).fill(Number.NaN);
  if (!source) return values;
  for (let row = 0; row < values.length; row += 1) {
    const value: unknown = source.at(row);
    if (value !== null && value !== undefined) values[row] = Number(value);
  }
  return values;
}

/** Decodes the answer's body. Throws if it holds no description of its window. */
export function decodeUsage(body: Uint8Array): Usage {
  const table = tableFromIPC(body, { useBigInt: true });
  const described = table.schema.metadata?.get("window");
  if (!described) throw new Error("The usage answer has no window in its metadata.");
  const window = JSON.parse(described) as UsageWindow;
  const byArea = window.by === AREA;
  const allocated = column(table, "allocated");
  return {
    window,
    length: table.numRows,
    begin: column(table, "begin"),
    end: column(table, "end"),
    event: column(table, "event"),
    time: column(table, "time"),
    allocated,
    level: byArea ? sumOf(column(table, "stack"), column(table, "heap")) : allocated,
    fragmentation: column(table, "fragmentation"),
    reserved: column(table, "reserved"),
    reservedMax: column(table, "reserved_max"),
    groups: window.groups.map(({ key }, index) => column(table, byArea ? key : `g${index}`)),
  };
}
