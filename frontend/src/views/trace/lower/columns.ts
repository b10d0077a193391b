/** Columns of the table of memory by span. */

import type { SumRow } from "../../../api";

export interface Column {
  readonly column:
    | "calls"
    | "time"
    | "allocated"
    | "freed"
    | "net"
    | "peak"
    | "self_allocated"
    | "self_net";
  readonly text: string;
  readonly title: string;
  readonly of: "count" | "time" | "bytes" | "change";
}

export const COLUMNS: readonly (Column & { readonly column: keyof SumRow })[] = [
  { column: "calls", text: "Calls", title: "How many begin here", of: "count" },
  { column: "time", text: "Time", title: "How long they last together", of: "time" },
  {
    column: "allocated",
    text: "Allocated",
    title: "Bytes allocated in them and in all that is inside of them",
    of: "bytes",
  },
  { column: "freed", text: "Freed", title: "Bytes freed in them and inside of them", of: "bytes" },
  { column: "net", text: "Net", title: "Allocated less freed", of: "change" },
  {
    column: "peak",
    text: "Peak rise",
    title: "By how much what the device has allocated rose at most within one of them",
    of: "bytes",
  },
  {
    column: "self_allocated",
    text: "Self alloc.",
    title: "Allocated in them, but in none of this kind that is inside of them",
    of: "bytes",
  },
  {
    column: "self_net",
    text: "Self net",
    title: "Allocated less freed in them, but in none of this kind inside of them",
    of: "change",
  },
];
