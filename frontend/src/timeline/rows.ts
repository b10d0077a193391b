/** Looking rows up in a usage answer: by place on the axis, by event, by height. */

import type { Usage } from "../api";
import type { Range } from "./scale";
import type { Sheet } from "./scene";

/** First row whose bin ends after `value`: the bin at `value`, or the next one if it lies in a gap. */
export function rowAtOrAfter(usage: Usage, value: number): number {
  return firstRow(usage.length, (row) => (usage.end[row] as number) > value);
}

/** The row whose bin holds `value`, or the last one before it; -1 with nothing at or before it. */
export function rowAt(usage: Usage, value: number): number {
  const row = rowAtOrAfter(usage, value);
  if (row < usage.length && (usage.begin[row] as number) <= value) return row;
  return row - 1;
}

/** First row from which `holds` stays true; the number of rows if it never does. */
function firstRow(length: number, holds: (row: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Where a row's instant stands on the axis: where it came about, or where its bin begins if it was
 * carried in from before.
 */
export function placeOfRow(usage: Usage, row: number): number {
  const instant = (usage.window.axis === "time" ? usage.time : usage.event)[row] as number;
  const begin = usage.begin[row] as number;
  return Math.max(instant, begin);
}

/** The row that shows `event`; -1 when none does. */
export function rowOfEvent(usage: Usage, event: number): number {
  const row = firstRow(usage.length, (at) => (usage.event[at] as number) >= event);
  return row < usage.length && usage.event[row] === event ? row : -1;
}

/**
 * Where `event` lies on the axis. On the time axis that is exact for an event that a row shows, and
 * between its neighbours otherwise; null where the rows do not reach it.
 */
export function placeOfEvent(usage: Usage, event: number): number | null {
  if (usage.window.axis === "event") return event;
  const after = firstRow(usage.length, (row) => (usage.event[row] as number) >= event);
  if (after >= usage.length) return null;
  const place = usage.time[after] as number;
  if (usage.event[after] === event) return place;
  if (after === 0) return null;
  return (place + (usage.time[after - 1] as number)) / 2;
}

/**
 * The highest row in `begin` … `end`, the earliest of equals. A bin that `begin` cuts
 * counts only if its instant is inside, or if it is a single event, whose value still stands there.
 */
export function highestRow(usage: Usage, begin: number, end: number): number {
  const isExact = usage.window.axis === "event" && usage.window.bin === 1;
  let best = -1;
  for (let row = rowAtOrAfter(usage, begin); row < usage.length; row++) {
    if ((usage.begin[row] as number) > end) break;
    const place = placeOfRow(usage, row);
    if ((place < begin && !isExact) || place > end) continue;
    const level = usage.level[row] as number;
    if (Number.isNaN(level)) continue;
    if (best < 0 || level > (usage.level[best] as number)) best = row;
  }
  return best;
}

/**
 * A range of the answer's axis in units of the other one: from the first instant shown in it to the
 * last. Null where none is, or the recording has no time stamps.
 */
export function convertRange(usage: Usage, { begin, end }: Range): Range | null {
  const other = usage.window.axis === "time" ? usage.event : usage.time;
  const first = firstRow(usage.length, (row) => placeOfRow(usage, row) >= begin);
  const last = firstRow(usage.length, (row) => placeOfRow(usage, row) > end) - 1;
  const from = known(other[first]);
  const to = known(other[last]);
  if (first > last || from === null || to === null) return null;
  return { begin: from, end: to + 1 };
}

/** The nearest row that shows a later (`direction` 1) or an earlier event; -1 without one. */
export function neighbourRow(usage: Usage, event: number, direction: 1 | -1): number {
  const shows = (row: number) => usage.event[row] as number;
  if (direction < 0) return firstRow(usage.length, (row) => shows(row) >= event) - 1;
  const next = firstRow(usage.length, (row) => shows(row) > event);
  return next < usage.length ? next : -1;
}

/** A number as it is, null for what the answer left out. */
export function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** How high the picture is at an event, where a row shows it. */
export function levelAt(sheets: readonly Sheet[], event: number): number | null {
  for (const { usage } of [...sheets].reverse()) {
    const row = rowOfEvent(usage, event);
    if (row >= 0) return usage.level[row] as number;
  }
  return null;
}
