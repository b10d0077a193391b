/** Moves the cursor along the axis by itself, as fast as the pictures come. */

import { computed, effect, signal } from "@preact/signals";
import type { Usage } from "../../api";
import { visible } from "../../state";
import type { Model as Timeline } from "../../timeline/model";
import { placeOfRow } from "../../timeline/rows";
import type { Range } from "../../timeline/scale";

/** Milliseconds between two moments, and how long the whole window takes at the usual speed. */
const TICK = 100;
const LENGTH = 20_000;
export const SPEEDS = [0.25, 1, 4] as const;

/** First row that shows a later event than `event`, from where the window begins. */
function rowAfter(usage: Usage, window: Range, event: number | null): number {
  for (let row = 0; row < usage.length; row++) {
    const place = placeOfRow(usage, row);
    if (place < window.begin) continue;
    if (event === null || (usage.event[row] as number) > event) return row;
  }
  return -1;
}

/**
 * The event to show after `event`, `stride` rows on at the most; null at the end of the window.
 * Rows that show the same event as the one before are passed over.
 */
export function nextEvent(
  usage: Usage,
  window: Range,
  event: number | null,
  stride: number,
): number | null {
  const first = rowAfter(usage, window, event);
  if (first < 0 || placeOfRow(usage, first) > window.end) return null;
  let row = first;
  while (row + 1 < first + stride && row + 1 < usage.length) {
    if (placeOfRow(usage, row + 1) > window.end) break;
    row++;
  }
  return usage.event[row] as number;
}

/** Rows to go on by at each tick, so that the window takes as long at any zoom. */
export function strideFor(usage: Usage, window: Range, speed: number): number {
  let rows = 0;
  for (let row = 0; row < usage.length; row++) {
    const place = placeOfRow(usage, row);
    if (place >= window.begin && place <= window.end) rows++;
  }
  return Math.max(1, Math.round((rows * TICK * speed) / LENGTH));
}

export function createPlayer(timeline: Timeline, isWaiting: () => boolean) {
  const playing = signal(false);
  const speed = signal<number>(1);
  const running = computed(() => playing.value && visible.value);

  /** Whether it was begun and no moment was shown yet. */
  let isNew = false;

  /** Goes to the beginning of the window where the cursor is at its end or outside; whether it is. */
  const isBegun = (usage: Usage, window: Range): boolean => {
    isNew = false;
    const place = timeline.cursorPlace.peek();
    const isOutside = place === null || place < window.begin || place > window.end;
    if (!isOutside && nextEvent(usage, window, timeline.cursorEvent.peek(), 1) !== null)
      return false;
    const first = nextEvent(usage, window, null, 1);
    if (first !== null) timeline.setCursor(first);
    return first !== null;
  };
  const tick = (): void => {
    const usage = timeline.loader.detail.peek();
    if (usage === null || isWaiting()) return; // the last picture is still on its way
    const window = timeline.window.peek();
    if (isNew && isBegun(usage, window)) return;
    const stride = strideFor(usage, window, speed.peek());
    const next = nextEvent(usage, window, timeline.cursorEvent.peek(), stride);
    if (next === null) playing.value = false;
    else timeline.setCursor(next);
  };
  const stop = effect(() => {
    if (!running.value) return;
    const timer = setInterval(tick, TICK);
    return () => clearInterval(timer);
  });

  /** Begins, as soon as there is a curve to go along, or stops. */
  const toggle = (): void => {
    isNew = !playing.peek();
    playing.value = isNew;
  };
  return {
    playing,
    speed,
    toggle,
    dispose: () => {
      playing.value = false;
      stop();
    },
  };
}
