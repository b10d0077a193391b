/** What is said of a step, a module or an annotation on its track. */

import type { SpanCard, TrackItem } from "../api";
import { bytes, duration, grouped, signedBytes } from "../format";
import { exactTime, lengthWords } from "./readout";

/** An item in words, a line each: its ends, how long it lasts, the events within it. */
export function itemLines(item: TrackItem, axis: "time" | "event"): string[] {
  const place = (value: number) => (axis === "time" ? exactTime(value) : `event ${grouped(value)}`);
  const begin = item.open === "begin" ? "before the window" : place(item.begin);
  const end = item.open === "end" ? "not ended in the window" : place(item.end);
  const length = item.end - item.begin;
  const lines = [`${begin} → ${end}`];
  if (item.open === null) {
    lines.push(axis === "time" ? duration(length) : `${grouped(length)} events`);
  }
  const { begin_time: from, end_time: until } = item;
  if (axis === "event" && item.count === 1 && from !== null && until !== null) {
    lines.push(`${exactTime(from)} → ${exactTime(until)}`, duration(until - from));
  }
  if (axis === "time" && item.begin_event !== null && item.end_event !== null) {
    lines.push(`events ${grouped(item.begin_event)} to ${grouped(item.end_event)}`);
  }
  if (item.count > 1) lines.push(`${grouped(item.count)} together, too short to tell apart here`);
  return lines;
}

/** The most that was allocated during one, and what that is of it that stays. */
export function peakWords(card: SpanCard | null): string[] {
  if (card === null) return [];
  const change = card.after.allocated - card.before.allocated;
  const changed = change === 0 ? "as much after it as before" : `${signedBytes(change)} after it`;
  return [`peak ${bytes(card.peak.allocated)}, ${changed}`];
}

/** A step or annotation as it is spoken. */
export function itemWords(item: TrackItem, axis: "time" | "event", card: SpanCard | null): string {
  const length = lengthWords(axis, item.end - item.begin);
  const words = item.open === null ? [item.name, length] : [item.name];
  if (item.count > 1) words[0] = `${grouped(item.count)} together, the longest ${item.name}`;
  return [...words, ...peakWords(card)].join(", ");
}
