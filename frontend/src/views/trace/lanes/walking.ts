/** From one span to another: zoomed to, shown, next and previous on its lane, around and inside. */

import type { TraceItems, TraceSpan } from "../../../api";
import { type Range, span } from "../../../timeline/scale";
import { windowShowing } from "../../../timeline/stepping";
import { firstAfter, itemOf, itemsIn, lanesOf, rangeOf } from "./items";
import type { Panel, Pointed } from "./model";

/** Air at each side of what is zoomed to, as a share of it. */
const AIR = 0.05;
/** Items as wide as several merged ones are shown on each side of them. */
const AROUND = 8;

export type Way = "next" | "previous" | "around" | "inside";

export const airy = (range: Range, air = AIR): Range => {
  const more = Math.max(span(range) * air, 1);
  return { begin: range.begin - more, end: range.end + more };
};

/** Zooms to an item; several that are merged get room to be told apart. */
export function zoomTo({ timeline }: Panel, { of, at }: Pointed): void {
  const isMerged = (of.count[at] as number) > 1;
  timeline.setWindow(airy(rangeOf(of, at), isMerged ? AROUND : AIR));
}

/** Moves the window, and scrolls its panel, so that a span is seen. */
export function show(panel: Panel, place: TraceSpan): void {
  const { timeline } = panel;
  timeline.setWindow(windowShowing(place, timeline.window.peek(), timeline.whole.peek()), false);
}

/** The item one step on from where a span is; null where the answer has none. */
export function stepped(of: TraceItems, from: TraceSpan, way: Way): Pointed | null {
  const lanes = lanesOf(of);
  const { track, depth, begin, end } = from;
  if (way === "next" || way === "previous") {
    const at = itemOf(lanes, from) + (way === "next" ? 1 : -1);
    const [first, stop] = itemsIn(lanes, track, depth);
    return at >= first && at < stop ? { of, at } : null;
  }
  const deep = way === "around" ? depth - 1 : depth + 1;
  const [first, stop] = itemsIn(lanes, track, deep);
  const at = firstAfter(lanes, first, stop, begin);
  if (at >= stop) return null;
  const isThere = (of.from[at] as number) <= (way === "around" ? begin : end);
  return isThere ? { of, at } : null;
}

/** What keys begin with: the outermost item in the middle of what is in view. */
export function entry(of: TraceItems, track: string | undefined, window: Range): Pointed | null {
  if (track === undefined) return null;
  const lanes = lanesOf(of);
  const [first, stop] = itemsIn(lanes, track, 0);
  const at = firstAfter(lanes, first, stop, window.begin);
  return at < stop ? { of, at } : null;
}
