/** What is drawn of the axis: the window and some more to both sides, so that a pan moves what is drawn. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { later } from "../api";
import { type Range, sameRange, span } from "./scale";
import type { Plot } from "./scene";

export interface Reach extends Range {
  /** How many times as wide as the window it is. */
  readonly times: number;
}

export interface Looked {
  readonly whole: ReadonlySignal<Range>;
  readonly window: ReadonlySignal<Range>;
  readonly plot: ReadonlySignal<Plot>;
}

/** Share of the window that is drawn beyond each side of it. */
const MARGIN = 0.125;
/** A window that has not moved for so long rests, in ms. */
const REST = 180;
/** Share of a window by which two of the same width differ for being fractions. */
const ROUNDING = 1e-9;

/** The window and a margin, in whole pixels of the plot to each side, as far as there is anything. */
export function around(window: Range, whole: Range, plot: Plot): Reach {
  const pixel = span(window) / Math.max(plot.columns, 1);
  const most = Math.ceil(plot.columns * MARGIN);
  const room = (beyond: number) => Math.min(most, Math.max(0, Math.floor(beyond / pixel)));
  const begin = window.begin - room(window.begin - whole.begin) * pixel;
  const end = window.end + room(whole.end - window.end) * pixel;
  return { begin, end, times: (end - begin) / span(window) };
}

const holds = (reach: Reach, window: Range): boolean =>
  reach.begin <= window.begin &&
  window.end <= reach.end &&
  Math.abs(span(reach) / reach.times - span(window)) <= ROUNDING * span(window);

/** `reach` is another one once the window leaves it, is zoomed or rests; `still` is where it rested. */
export function createReach({ whole, window, plot }: Looked) {
  const still = signal(window.peek());
  let last: { readonly reach: Reach; readonly made: readonly unknown[] } | null = null;
  const reach = computed(() => {
    const made = [whole.value, plot.value, still.value];
    const shown = window.value;
    const isSame = last?.made.every((value, at) => value === made[at]);
    if (last === null || !isSame || !holds(last.reach, shown)) {
      const next = around(shown, whole.value, plot.value);
      const isOther =
        last === null || !sameRange(last.reach, next) || next.times !== last.reach.times;
      last = { reach: isOther || last === null ? next : last.reach, made };
    }
    return last.reach;
  });
  const dispose = effect(() => {
    const shown = window.value;
    if (sameRange(shown, still.peek())) return;
    return later(() => {
      still.value = shown;
    }, REST);
  });
  return { reach, still: still as ReadonlySignal<Range>, dispose };
}
