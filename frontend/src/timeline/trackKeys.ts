/** What keys do on steps, modules and annotations, and what Enter or a click does to one. */

import { batch } from "@preact/signals";
import type { Axis, TrackItem } from "../api";
import { selection } from "../state";
import type { Model } from "./model";
import { clampWindow, panWindow, type Range, roundWindow, sameRange, span } from "./scale";
import { entry, sameItem, stepped, type Way, windowShowing } from "./stepping";

/** Share of the window that it moves by where nothing more is known beside it. */
const BEYOND = 0.9;

const WAYS: Readonly<Record<string, Way>> = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  ArrowUp: "around",
  ArrowDown: "inside",
  Home: "first",
  End: "last",
};

/**
 * Zooms to an item and has it explained, or back where that is done already; several merged ones are
 * none that could be explained.
 */
export function open(model: Model, item: TrackItem): void {
  const wanted = around(item, model.axis.peek());
  const shown = model.window.peek();
  const chosen = selection.peek();
  const isChosen = chosen?.kind === "span" && chosen.id === item.id;
  if (
    isChosen &&
    sameRange(roundWindow(clampWindow(wanted, model.whole.peek())), roundWindow(shown))
  ) {
    if (model.canGoBack()) model.back();
    else model.fit();
    return;
  }
  batch(() => {
    if (item.count === 1) selection.value = { kind: "span", id: item.id };
    model.setWindow(wanted);
  });
}

/** A window with a hair of air at each side of an item, which keeps its edges in sight. */
function around({ begin, end }: TrackItem, axis: Axis): Range {
  // On the axis of events something short lies between two of them: both are wanted.
  const air = Math.max((end - begin) * 0.01, axis === "event" && end - begin < 1 ? 1 : 0);
  return { begin: begin - air, end: end + air };
}

/** Does what a key stands for on a track; false where it stands for nothing. */
export function keyOnTrack(
  event: KeyboardEvent,
  model: Model,
  items: readonly TrackItem[],
  from: TrackItem | null,
  reach: (item: TrackItem) => void,
): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const at = from === null ? null : (sameItem(items, from) ?? from);
  if (event.key === "Escape") {
    if (!model.canGoBack()) return false;
    model.back();
    return true;
  }
  if (event.key === "Enter") {
    if (at !== null) open(model, at);
    return at !== null;
  }
  const way = WAYS[event.key];
  if (way === undefined) return false;
  const isSteps = items.every(({ depth }) => depth === undefined);
  if (isSteps && (way === "around" || way === "inside")) return false;
  const next =
    at === null
      ? entry(items, model.window.peek(), model.cursorPlace.peek())
      : stepped(items, at, way);
  const [window, whole] = [model.window.peek(), model.whole.peek()];
  if (next !== null) {
    model.setWindow(windowShowing(next, window, whole), false);
    reach(next);
  } else if (way === "previous" || way === "next") {
    // More may come to be known beside what is in view.
    const direction = way === "next" ? BEYOND : -BEYOND;
    model.setWindow(panWindow(window, whole, direction * span(window)), false);
  }
  return true;
}
