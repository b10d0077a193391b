/** Buffers of a plan that are alive at a moment, and its curve: Arrow IPC streams as typed arrays. */

import { type Table, tableFromIPC } from "@uwdata/flechette";
import type { UsageGroup } from "./types";

/** In program order: those held all the time first. */
export interface PlanBars {
  event: number;
  total: number;
  count: number;
  leftOut: number;
  leftOutBytes: number;
  by: string;
  groups: UsageGroup[];
  id: Float64Array;
  bytes: Float64Array;
  unpadded: Float64Array;
  /** NaN of what is held from the start, and to the end. */
  birth: Float64Array;
  death: Float64Array;
  /** The place of its group among `groups`; NaN where nothing is grouped. */
  band: Float64Array;
  name: (string | null)[];
  dtype: (string | null)[];
  shape: (string | null)[];
  kind: (string | null)[];
}

/** The highest moment of every bin. */
export interface PlanCurve {
  event: Float64Array;
  size: Float64Array;
  unpadded: Float64Array;
  /** The name of the instruction that the event is of; null where the heap names none. */
  instruction: (string | null)[];
}

function column(table: Table, name: string): Float64Array {
  const source = table.getChild(name);
  return Float64Array.from({ length: table.numRows }, (_, row) => {
    const value: unknown = source?.at(row);
    return value === null || value === undefined ? Number.NaN : Number(value);
  });
}

function words(table: Table, name: string): (string | null)[] {
  const source = table.getChild(name);
  return Array.from({ length: table.numRows }, (_, row) => (source?.at(row) as string) ?? null);
}

export function decodeCurve(body: Uint8Array): PlanCurve {
  const table = tableFromIPC(body);
  return {
    event: column(table, "event"),
    size: column(table, "size"),
    unpadded: column(table, "unpadded"),
    instruction: words(table, "instruction"),
  };
}

interface About {
  event: number;
  total: number;
  count: number;
  left_out: number;
  left_out_bytes: number;
  by: string;
  groups: UsageGroup[];
}

/** Throws if it does not say what it is of. */
export function decodeBars(body: Uint8Array): PlanBars {
  const table = tableFromIPC(body);
  const described = table.schema.metadata?.get("alive");
  if (!described) throw new Error("The answer about buffers says nothing of the moment.");
  const about = JSON.parse(described) as About;
  return {
    event: about.event,
    total: about.total,
    count: about.count,
    leftOut: about.left_out,
    leftOutBytes: about.left_out_bytes,
    by: about.by,
    groups: about.groups,
    id: column(table, "id"),
    bytes: column(table, "bytes"),
    unpadded: column(table, "unpadded"),
    birth: column(table, "birth"),
    death: column(table, "death"),
    band: column(table, "band"),
    name: words(table, "name"),
    dtype: words(table, "dtype"),
    shape: words(table, "shape"),
    kind: words(table, "kind"),
  };
}
