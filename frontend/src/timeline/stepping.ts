/** From one step or annotation to the next, as keys go along a track. */

import type { TrackItem } from "../api";
import { panWindow, type Range, span } from "./scale";

export type Way = "previous" | "next" | "around" | "inside" | "first" | "last";

const depthOf = ({ depth }: TrackItem): number => depth ?? 0;
const isIn = (item: TrackItem, window: Range): boolean =>
  item.end > window.begin && item.begin < window.end;

/** The item that is meant by `shown`, an item of an earlier answer; null where it is in none now. */
export const sameItem = (items: readonly TrackItem[], shown: TrackItem): TrackItem | null =>
  items.find(({ id }) => id === shown.id) ?? null;

/**
 * Where keys begin: what holds `place` (the cursor) if that is in view, else the first in view;
 * of several the outermost.
 */
export function entry(
  items: readonly TrackItem[],
  window: Range,
  place: number | null,
): TrackItem | null {
  const seen = items.filter((item) => isIn(item, window));
  const outer = seen.filter((item) => depthOf(item) === Math.min(...seen.map(depthOf)));
  const isInView = place !== null && place >= window.begin && place < window.end;
  const held = isInView ? outer.find(({ begin, end }) => begin <= place && place < end) : undefined;
  return held ?? outer[0] ?? null;
}

/** The item one key further on; null where there is none among `items`. */
export function stepped(items: readonly TrackItem[], from: TrackItem, way: Way): TrackItem | null {
  const row = items.filter((item) => depthOf(item) === depthOf(from));
  const at = row.findIndex(({ id }) => id === from.id);
  switch (way) {
    case "first":
      return row[0] ?? null;
    case "last":
      return row.at(-1) ?? null;
    case "next":
      if (at >= 0) return row[at + 1] ?? null;
      return row.find(({ begin }) => begin > from.begin) ?? null;
    case "previous":
      if (at >= 0) return row[at - 1] ?? null;
      return row.findLast(({ begin }) => begin < from.begin) ?? null;
    case "around":
      return (
        items.findLast(
          (item) =>
            depthOf(item) === depthOf(from) - 1 && item.begin <= from.begin && item.end >= from.end,
        ) ?? null
      );
    case "inside":
      return (
        items.find(
          (item) =>
            depthOf(item) === depthOf(from) + 1 && item.begin >= from.begin && item.end <= from.end,
        ) ?? null
      );
  }
}

/** The window moved, not zoomed, so that an item is seen: its middle, or its beginning if it is wider. */
export function windowShowing(item: Range, window: Range, whole: Range): Range {
  if (item.begin >= window.begin && item.end <= window.end) return window;
  const isWider = span(item) > span(window);
  const place = isWider ? item.begin + span(window) * 0.4 : (item.begin + item.end) / 2;
  return panWindow(window, whole, place - (window.begin + window.end) / 2);
}
