/** A group in words: its name, and when the oldest of it was born. */

import type { BreakdownGroup } from "../api/types";
import { count, counted } from "../format";
import type { Moment } from "./moment";
import { say } from "./say";

/** When the oldest of a group was born: `before`, `step 0`, or the moment without steps. */
export function oldestWords(
  group: Pick<BreakdownGroup, "oldest_step" | "oldest_event" | "oldest_time">,
  words: (moment: Moment) => string,
): string {
  const { oldest_event: event, oldest_step: step } = group;
  if (event === null || event < 0) return say("before");
  if (step !== null && step >= 0) return `step\u00a0${count(step)}`;
  return words({ event, time: group.oldest_time ?? null, step: null });
}

/** Why the number of blocks of a sum is not told. */
export const SUM_ONLY =
  "Of what was there before and was never freed the source has the sum only; the number of blocks is not known.";

/** `3 blocks`, of which `sums` stand for nobody knows how many. */
export function blocksWords(blocks: number, sums: number): string {
  if (sums === 0) return counted(blocks, say("block"));
  const known = blocks - sums;
  return known > 0 ? `${counted(known, "block")} and a sum` : "sum only, blocks not known";
}

/** A group's name for people: categories are words and begin with a capital, names stay as they are. */
export const groupLabel = (label: string, by: string): string =>
  by === "category" ? label.charAt(0).toUpperCase() + label.slice(1) : label || "–";
