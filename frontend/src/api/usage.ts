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
  /** Ordinal of the instant shown: the highest allocated in the bin. */
  event: Float64Array;
  /** ns since the origin; NaN where the recording has no time stamps. */
  time: Float64Array;
  allocated: Float64Array;
  /** NaN where reserved is not known. */
  reserved: Float64Array;
  reservedMax: Float64Array;
  /** Bytes of each group at the instant, in the order of `window.groups`. */
  groups: Float64Array[];
}

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
  return {
    window,
    length: table.numRows,
    begin: column(table, "begin"),
    end: column(table, "end"),
    event: column(table, "event"),
    time: column(table, "time"),
    allocated: column(table, "allocated"),
    reserved: column(table, "reserved"),
    reservedMax: column(table, "reserved_max"),
    groups: window.groups.map((_, index) => column(table, `g${index}`)),
  };
}
