/** Small usage answers made by hand, for tests. */

import { AREA, type Axis, type Usage, type UsageGroup } from "../api";

export interface SampleRow {
  readonly begin: number;
  readonly end: number;
  readonly values: readonly number[];
  readonly event?: number;
  readonly time?: number;
  readonly reserved?: number;
  readonly fragmentation?: number;
}

export function sampleUsage(
  rows: readonly SampleRow[],
  options: {
    groups?: UsageGroup[];
    axis?: Axis;
    begin?: number;
    end?: number;
    /** Groups are areas: stack, heap, free. */
    byArea?: boolean;
  } = {},
): Usage {
  const count = rows[0]?.values.length ?? 1;
  const first = rows[0];
  const column = (pick: (row: SampleRow) => number) => Float64Array.from(rows, pick);
  const allocated = column((row) => row.values.reduce((sum, value) => sum + value, 0));
  const made = (_: unknown, index: number) => ({ key: `k${index}`, label: `group ${index}` });
  return {
    window: {
      axis: options.axis ?? "event",
      begin: options.begin ?? first?.begin ?? 0,
      end: options.end ?? rows.at(-1)?.end ?? 0,
      bin: first === undefined ? 1 : first.end - first.begin,
      by: options.byArea ? AREA : "stack",
      groups: options.groups ?? Array.from({ length: count }, made),
      has_reserved: first?.reserved !== undefined,
      areas: options.byArea ? ["stack", "heap", "free"] : [],
      has_fragmentation: rows.some(({ fragmentation }) => fragmentation !== undefined),
    },
    length: rows.length,
    begin: column((row) => row.begin),
    end: column((row) => row.end),
    event: column((row) => row.event ?? row.begin),
    time: column((row) => row.time ?? Number.NaN),
    allocated,
    level: options.byArea ? column(({ values: [stack = 0, heap = 0] }) => stack + heap) : allocated,
    fragmentation: column((row) => row.fragmentation ?? Number.NaN),
    reserved: column((row) => row.reserved ?? Number.NaN),
    reservedMax: column((row) => row.reserved ?? Number.NaN),
    groups: Array.from({ length: count }, (_, index) => column((row) => row.values[index] ?? 0)),
  };
}
