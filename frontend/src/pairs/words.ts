/** Words for how well two recordings match. */

import type { Match, PairTold, Source } from "../api";
import { count, counted, duration } from "../format";

/** `99.8 %`: never rounded up to all. */
function percent(share: number): string {
  const tenths = Math.floor(share * 1000) / 10;
  return `${tenths === 100 ? "100" : tenths.toFixed(1)}\u00a0%`;
}

/** What was found to be the same, and how exactly. */
export function matchWords(match: Match): string {
  const { matched, snapshot_share: ours, trace_share: theirs } = match;
  return `${count(matched)} births and frees are the same: ${percent(theirs)} of the trace's and ${percent(ours)} of the snapshot's where both recorded`;
}

/** How the clocks differ. */
export function clockWords({
  offset_ns: offset,
  drift_ppm: drift,
  residual_ns: left,
}: Match): string {
  const apart =
    offset === 0
      ? "The clocks agree"
      : `The snapshot's clock is ${duration(Math.abs(offset))} ${offset > 0 ? "ahead" : "behind"}`;
  const drifting =
    drift === 0
      ? ""
      : `, and runs ${Math.abs(drift).toFixed(2)} ppm ${drift > 0 ? "fast" : "slow"}`;
  return `${apart}${drifting}; what is left is ${duration(left.median)} (median), 95 % are within ${duration(left.p95)}`;
}

/** What of a pair is to be said beside how it matched. */
export function pairNotes(told: PairTold): string[] {
  const notes: string[] = [];
  const { labels = 0, doubles = 0, stacks, left_out: left = [] } = told;
  if (labels > 0) notes.push(`${counted(labels, "label")} of the trace taken over`);
  if (doubles > 0) notes.push(`${counted(doubles, "span")} that both have shown once`);
  if (stacks) notes.push("stacks are the trace's");
  for (const { device, events, whole } of left) {
    const of = whole ? "" : " that the snapshot does not have";
    notes.push(`${counted(events, "event")} of ${device} in the trace${of} left out`);
  }
  return notes;
}

/** The run only where it is another one. */
export const sourceWord = (of: Source, beside: Source): string =>
  of.run === beside.run ? of.name : `${of.run}/${of.name}`;

export const UNITS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 } as const;
export type Unit = keyof typeof UNITS;

/** A shift as a number and the largest unit that it has one of. */
export function shiftParts(ns: number): { value: string; unit: Unit } {
  if (ns === 0) return { value: "0", unit: "ms" };
  const large = (["s", "ms", "µs"] as const).find((each) => Math.abs(ns) >= UNITS[each]);
  const unit = large ?? "ns";
  return { value: String(ns / UNITS[unit]), unit };
}

/** Nanoseconds of what was typed; null where that is no number that can be shifted by. */
export function shiftOf(text: string, unit: Unit): number | null {
  const value = Number(text.replace("−", "-").replace(",", ".").trim() || Number.NaN);
  const ns = Math.round(value * UNITS[unit]);
  return Number.isFinite(ns) && Math.abs(ns) <= Number.MAX_SAFE_INTEGER ? ns : null;
}
