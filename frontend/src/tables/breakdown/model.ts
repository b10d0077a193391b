/** What the breakdown's table says of one allocation, as plain functions: its birth, its bytes. */

import type { AllocationRow } from "../../api";
import { count } from "../../format";
import type { Moment } from "../../state/moment";
import { say } from "../../state/say";

/** The birth of one allocation in the same words. */
export function birthWords(row: AllocationRow, words: (moment: Moment) => string): string {
  if (row.birth === null || row.birth < 0) return say("before");
  if (row.step !== null && row.step >= 0) return `step\u00a0${count(row.step)}`;
  return words({ event: row.birth, time: row.birth_time, step: null });
}

/** The bytes of an allocation in the recording's basis, which its group's total is made of. */
export function sizeIn(basis: "requested" | "size", row: AllocationRow): number {
  const [first, second] = basis === "size" ? [row.size, row.requested] : [row.requested, row.size];
  return first ?? second ?? 0;
}
