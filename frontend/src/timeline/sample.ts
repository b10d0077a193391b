/** Small usage answers made by hand, for tests. */

import type { Axis, Usage, UsageGroup } from "../api";

export interface SampleRow {
  readonly begin: number;
  readonly end: number;
  readonly values: readonly number[];
  readonly event?: number;
  readonly time?: number;
  readonly reserved?: number;
}

export function sampleUsage(
  rows: readonly SampleRow[],
  options: { groups?: UsageGroup[]; axis?: Axis; begin?: number; end?: number } = {},
): Usage {
  const count = rows[0]?.values.length ?? 1;
  const first = rows[0];
  const column = (pick: (row: SampleRow) => number) => Float64Array.from(rows, pick);
  const made = (_: unknown, index: number) => ({ key: `k${index}`, label: `group ${index}` });
  return {
    window: {
      axis: options.axis ?? "event",
      begin: options.begin ?? first?.begin ?? 0,
      end: options.end ?? rows.at(-1)?.end ?? 0,
      bin: first === undefined ? 1 : first.end - first.begin,
      by: "stack",
      groups: options.groups ?? Array.from({ length: count }, made),
      has_reserved: first?.reserved !== undefined,
    },
    length: rows.length,
    begin: column((row) => row.begin),
    end: column((row) => row.end),
    event: column((row) => row.event ?? row.begin),
    time: column((row) => row.time ?? Number.NaN),
    allocated: column((row) => row.values.reduce((sum, value) => sum + value, 0)),
    reserved: column((row) => row.reserved ?? Number.NaN),
    reservedMax: column((row) => row.reserved ?? Number.NaN),
    groups: Array.from({ length: count }, (_, index) => column((row) => row.values[index] ?? 0)),
  };
}
