/** What is said about one instant: the rows of the tooltip, and the sentence screen readers get. */

import type { Mark, TrackItem, Usage } from "../api";
import { bytes, duration, exactBytes, grouped, share } from "../format";
import { groupLabel } from "../state/groups";
import { say } from "../state/say";
import { formulaOf, wasted } from "./fragmentation";
import { FRAGMENTATION, fragmentation } from "./height";
import { highestRow, known, placeOfRow } from "./rows";
import { type Range, roundWindow } from "./scale";
import { isByArea } from "./scene";
import { largestGroups } from "./stacking";

export interface Readout {
  readonly title: string;
  readonly rows: readonly ReadoutRow[];
  readonly groups: readonly ReadoutGroup[];
  readonly more: string | null;
}

export interface ReadoutRow {
  readonly label: string;
  readonly value: string;
  /** The whole number of bytes behind a rounded value. */
  readonly exact: string | null;
}

export interface ReadoutGroup {
  /** Index into the answer's groups. */
  readonly index: number;
  readonly label: string;
  readonly value: string;
  readonly share: string;
}

/** Groups a tooltip names. */
const NAMED = 6;

/** An instant in words: `event 3 485 · 0.413 s`. */
export function instantTitle(event: number, time: number | null): string {
  const what = event < 0 ? "before the first event" : `event ${grouped(event)}`;
  return time === null ? what : `${what} · ${exactTime(time)}`;
}

/** The instant a row shows; `since` where it came about before the bin and still stands. */
function rowTitle(usage: Usage, row: number): string {
  const title = instantTitle(usage.event[row] as number, known(usage.time[row]));
  const began = usage.window.axis === "time" ? usage.time[row] : usage.event[row];
  const isCarried = (began ?? 0) < placeOfRow(usage, row) && (usage.event[row] ?? -1) >= 0;
  return isCarried ? `since ${title}` : title;
}

/** A time to the nanosecond, in seconds: `0.413 207 001 s`. */
export function exactTime(ns: number): string {
  const sign = ns < 0 ? "−" : "";
  const whole = Math.floor(Math.abs(ns) / 1e9);
  const digits = String(Math.abs(ns) - whole * 1e9).padStart(9, "0");
  const parts = digits.match(/\d{3}/g) ?? [];
  while (parts.length > 1 && parts.at(-1) === "000") parts.pop();
  return `${sign}${grouped(whole)}.${parts.join("\u202f")}\u00a0s`;
}

/** Everything about the instant a row shows. `step` is the name of the step it is in. */
export function readout(
  usage: Usage,
  row: number,
  basis: string,
  step: string | null,
  other: { label: string; bytes: number } | null = null,
): Readout {
  if (isByArea(usage)) return areasReadout(usage, row, step);
  const allocated = usage.allocated[row] as number;
  const reserved = known(usage.reserved[row]);
  const rows: ReadoutRow[] = [amount(say(`allocated (${basis})`), allocated)];
  if (other !== null) rows.push(amount(other.label, other.bytes));
  if (reserved !== null) rows.push(amount("reserved", reserved));
  if (fragmentation(allocated, reserved) !== null && reserved !== null) {
    const value = share(reserved - allocated, reserved);
    rows.push({ label: "fragmentation", value, exact: FRAGMENTATION });
  }
  if (step !== null) rows.push({ label: "step", value: step, exact: null });
  const { top, more, moreBytes } = largestGroups(usage, row, NAMED);
  return {
    title: rowTitle(usage, row),
    rows,
    groups: top.map((index) => {
      const held = (usage.groups[index] as Float64Array)[row] as number;
      const label = nameOf(usage, index);
      return { index, label, value: bytes(held), share: share(held, allocated) };
    }),
    more: more === 0 ? null : `${grouped(more)} more, ${bytes(moreBytes)}`,
  };
}

/** Stack, heap and free at an instant, in the order they stand in, and their shares of all memory. */
function areasReadout(usage: Usage, row: number, step: string | null): Readout {
  const held = usage.groups.map((values) => known(values[row]));
  const whole = held.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  const hasStack = usage.window.areas.includes("stack");
  const rows = [amount(hasStack ? "stack + heap" : "heap", usage.level[row] as number)];
  const part = wasted(usage, row);
  if (part !== null) {
    rows.push({ label: "fragmentation", value: share(part, 1), exact: formulaOf(usage) });
  }
  if (step !== null) rows.push({ label: "step", value: step, exact: null });
  const groups = held.flatMap((bytes_, index) =>
    bytes_ === null
      ? []
      : [{ index, label: nameOf(usage, index), value: bytes(bytes_), share: share(bytes_, whole) }],
  );
  return { title: rowTitle(usage, row), rows, groups, more: null };
}

function nameOf({ window }: Usage, group: number): string {
  return groupLabel(window.groups[group]?.label ?? "", window.by);
}

function amount(label: string, value: number): ReadoutRow {
  return { label, value: bytes(value), exact: value < 1024 ? null : exactBytes(value) };
}

/** The step that an instant is in, by name. */
export function stepAt(steps: readonly TrackItem[], instant: number): string | null {
  const found = steps.find(
    ({ begin, end, count }) => count === 1 && begin <= instant && instant < end,
  );
  return found?.name ?? null;
}

const MARK_WORDS: Readonly<Record<string, string>> = {
  out_of_memory: "Out of memory",
  snapshot: "Snapshot",
};

export function markTitle(mark: Mark): string {
  return MARK_WORDS[mark.kind] ?? mark.kind.replace(/_/g, " ");
}

/** One sentence for those who cannot see the picture: what is in view and its highest instant. */
export function describe(usage: Usage | null, window: Range, device: string): string {
  if (usage === null) return `Memory of ${device}: loading.`;
  const place = (value: number) =>
    usage.window.axis === "time" ? exactTime(value) : `event ${grouped(value)}`;
  const whole = roundWindow(window);
  const row = highestRow(usage, window.begin, window.end);
  const where = `Memory of ${device} from ${place(whole.begin)} to ${place(whole.end)}`;
  if (row < 0) return `${where}: no event here.`;
  const level = usage.level[row] as number;
  const named = largestGroups(usage, row, 3).top.map((index) => {
    const held = (usage.groups[index] as Float64Array)[row] as number;
    return `${nameOf(usage, index)} ${bytes(held)}`;
  });
  const largest = named.length === 0 ? "" : ` Largest: ${named.join(", ")}.`;
  const at = instantTitle(usage.event[row] as number, known(usage.time[row]));
  return `${where}. Highest: ${bytes(level)} (${exactBytes(level)}) at ${at}.${largest}`;
}

/** What the cursor stands on, for the live region. */
export function describeInstant(usage: Usage, row: number): string {
  const at = instantTitle(usage.event[row] as number, known(usage.time[row]));
  const what = isByArea(usage) ? "in stack and heap" : say("allocated");
  return `Cursor at ${at}: ${bytes(usage.level[row] as number)} ${what}`;
}

/** Length of a window in words: `0.31 s` or `1 204 events`. */
export function lengthWords(axis: "time" | "event", length: number): string {
  if (axis === "time") return duration(length);
  const events = Math.max(1, Math.round(length));
  return `${grouped(events)} ${events === 1 ? "event" : "events"}`;
}

/** What is in view of the whole, as it is spoken: `event 200 to event 400, 200 events`. */
export function windowWords(axis: "time" | "event", window: Range, whole: Range): string {
  const length = lengthWords(axis, window.end - window.begin);
  if (window.begin <= whole.begin && window.end >= whole.end) return `everything, ${length}`;
  const place = (value: number) => (axis === "time" ? exactTime(value) : `event ${grouped(value)}`);
  const { begin, end } = roundWindow(window);
  return `${place(begin)} to ${place(end)}, ${length}`;
}
