/** What the lists say and take, as plain functions: words, filters, sizes, runs as on a track. */

import type { Axis, LifeRow, ModuleRow, TrackItem } from "../../api";
import { bytes, counted, duration, grouped, signedBytes } from "../../format";
import { parseBytes } from "../../format/parse";
import { momentWords } from "../../state/moment";
import { say } from "../../state/say";
import type { Window } from "../../state/view";

/** When an allocation was made; `before` the window. */
export function birthWords(row: LifeRow): string {
  if (row.birth === null) return say("before");
  return momentWords({ event: row.birth, time: row.birth_time, step: null });
}

export function deathWords(row: LifeRow): string {
  if (row.death === null) return say("not freed");
  return momentWords({ event: row.death, time: row.death_time, step: null });
}

/** How long it lived: in time, else in events; of what has no beginning or end that is not known. */
export function lifeWords(row: LifeRow): string {
  if (row.duration !== null) return duration(row.duration);
  if (row.birth === null || row.death === null) return "";
  return counted(row.death - row.birth, "event");
}

export const formWords = ({ dtype, shape }: LifeRow): string =>
  [dtype, shape].filter(Boolean).join(" ");

/** The filter that leaves what was made in one operator; of no operator, for null. */
export function operatorFilter(op: string | null): string {
  if (op === null) return "-op:/./";
  if (!op.includes('"')) return `op="${op}"`;
  return `op:/^${op.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/ /g, "\\x20")}$/`;
}

/** Bytes as a person writes them; null for nothing written, undefined for what is no size. */
export function sizeOf(text: string): number | null | undefined {
  return text.trim() === "" ? null : (parseBytes(text) ?? undefined);
}

/** A size as it can be written again, to the byte. */
export function sizeText(size: number | null): string {
  if (size === null) return "";
  const short = bytes(size).replace(/\s/g, " ");
  return parseBytes(short) === size ? short : String(size);
}

/** `1–100 of 1 234`. */
export function placeWords(offset: number, shown: number, all: number): string {
  if (shown === 0) return `none of ${grouped(all)}`;
  return `${grouped(offset + 1)}–${grouped(offset + shown)} of ${grouped(all)}`;
}

/** A moment to the microsecond: `4.870 400 s`, so that runs in a row differ. */
export function clockWords(ns: number): string {
  const micros = Math.round(ns / 1000);
  const digits = String(Math.abs(micros) % 1_000_000).padStart(6, "0");
  const whole = grouped(Math.floor(Math.abs(micros) / 1_000_000));
  return `${micros < 0 ? "−" : ""}${whole}.${digits.slice(0, 3)}\u202f${digits.slice(3)}\u00a0s`;
}

/** A run of a module as it stands on its track; what was not seen of it is where everything ends. */
export function itemOf(row: ModuleRow, axis: Axis, whole: Window): TrackItem {
  const { begin_event, end_event, begin: begin_time, end: end_time } = row;
  const [begin, end] = axis === "event" ? [begin_event, end_event] : [begin_time, end_time];
  return {
    id: row.id,
    name: row.name,
    begin: begin ?? whole.begin,
    end: end ?? whole.end,
    count: 1,
    begin_event,
    end_event,
    begin_time,
    end_time,
    open: begin_time === null ? "begin" : end_time === null ? "end" : null,
    on: row.on,
  };
}

/** `+1.00 MiB` of what grew; nothing where nothing did. */
export const changeWords = (value: number): string => (value === 0 ? "0" : signedBytes(value));
