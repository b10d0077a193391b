/** What the breakdown's table says, as plain functions: columns, sorting, words for cells. */

import type { AllocationRow } from "../../../api";
import { count } from "../../../format";
import type { Moment } from "../../../state/moment";

export type Column = "label" | "bytes" | "count" | "largest" | "oldest";

export interface Sorting {
  column: Column;
  descending: boolean;
}

const COLUMNS: readonly Column[] = ["label", "bytes", "count", "largest", "oldest"];

/** `-bytes` → bytes, descending. What is not understood sorts by bytes, largest first. */
export function parseSort(text: string): Sorting {
  const descending = text.startsWith("-");
  const column = COLUMNS.find((name) => name === text.replace(/^-/, ""));
  return column ? { column, descending } : { column: "bytes", descending: true };
}

export const sortText = ({ column, descending }: Sorting): string =>
  (descending ? "-" : "") + column;

/** A click on a header: turns the present column round, or starts another the useful way. */
export function nextSort(text: string, column: Column): string {
  const now = parseSort(text);
  if (now.column === column) return sortText({ column, descending: !now.descending });
  // Names read from A, and the oldest comes first; of numbers the largest matter.
  return sortText({ column, descending: column !== "label" && column !== "oldest" });
}

export function ariaSort(text: string, column: Column): "ascending" | "descending" | "none" {
  const now = parseSort(text);
  if (now.column !== column) return "none";
  return now.descending ? "descending" : "ascending";
}

/** The birth of one allocation in the same words. */
export function birthWords(row: AllocationRow, words: (moment: Moment) => string): string {
  if (row.birth === null || row.birth < 0) return "before";
  if (row.step !== null && row.step >= 0) return `step\u00a0${count(row.step)}`;
  return words({ event: row.birth, time: row.birth_time, step: null });
}

/** The bytes of an allocation in the recording's basis, which its group's total is made of. */
export function sizeIn(basis: "requested" | "size", row: AllocationRow): number {
  const [first, second] = basis === "size" ? [row.size, row.requested] : [row.requested, row.size];
  return first ?? second ?? 0;
}
