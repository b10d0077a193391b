/** What the view knows beside the page's state: the timeline, the state at the cursor, the scale. */

import { computed, signal } from "@preact/signals";
import { getPools, getSegments, type SegmentState } from "../../api";
import { createList } from "../../events/list";
import { target } from "../../flow/questions";
import { argument, blocksBy, by, cursor, device, filter, hasHistory } from "../../state";
import { resource } from "../../state/resource";
import { tileFor } from "../../timeline/grid";
import { createModel } from "../../timeline/model";
import { startsOf } from "./map/blocks";
import { HEAD, type Layout, LINE, layOut, lineBetween, type Place } from "./map/layout";
import { createPlayer } from "./play";

/** Lines that everything fills while nothing is zoomed. */
const FIT_LINES = 9;
/** Deepest zoom: a pixel is one block of the allocator. */
const FINEST = 512;
/** Detail is asked for in pieces of this many merged pixels, so that scrolling finds it again. */
const PIECE = 4096;

export type Model = ReturnType<typeof create>;

export function create() {
  const timeline = createModel();
  timeline.showFragmentation.value = (device.peek()?.reserved_peak ?? null) !== null;
  const width = signal(0);
  const height = signal(0);
  const scroll = signal(0);
  /** How often the scale was doubled. */
  const zoom = signal(0);
  const pointed = signal<{ place: Place; x: number; y: number } | null>(null);

  /** Held at most, so that the scale stays while the cursor moves. */
  const whole = computed(() => {
    const of = device.value;
    return Math.max(1, of?.reserved_peak ?? of?.allocated_peak ?? 1);
  });
  const fitted = computed(() => Math.ceil(whole.value / FIT_LINES));
  const deepest = computed(() =>
    Math.max(0, Math.ceil(Math.log2(fitted.value / (Math.max(1, width.value) * FINEST)))),
  );
  const lineBytes = computed(() => Math.max(1, fitted.value / 2 ** zoom.value));
  const pixel = computed(() => {
    const bytes = lineBytes.value / Math.max(1, width.value);
    return 2 ** Math.max(0, Math.floor(Math.log2(bytes)));
  });

  /** Groups and a filter: only asked for while blocks are coloured by them, while there is one. */
  const marking = computed(() => ({
    ...(blocksBy.value === "kind" ? {} : { by: by.value, pattern: argument.value }),
    ...(filter.value === "" ? {} : { filter: filter.value }),
  }));
  const asked = resource(() => {
    if (!target.value || width.value <= 0) return null;
    const at = cursor.value ?? ("peak" as const);
    return { ...target.value, at, pixel: pixel.value, ...marking.value };
  }, getSegments);
  const state = computed<SegmentState | null>(() => asked.answer.value.data);
  const layout = computed<Layout | null>(() =>
    state.value === null || width.value <= 0
      ? null
      : layOut(state.value.segments, width.value, lineBytes.value),
  );

  /** Where the whole was too much for one answer, what is in view is asked for by itself. */
  const detailed = resource(() => {
    const [now, place] = [state.value, layout.value];
    if (!target.value || now === null || place === null || now.about.pixel <= pixel.value)
      return null;
    const seen = lineBetween(place, now.segments, scroll.value, scroll.value + height.value);
    if (seen === null) return null;
    const piece = PIECE * pixel.value;
    return {
      ...target.value,
      at: now.about.event,
      pixel: pixel.value,
      ...marking.value,
      begin: Math.floor(seen.begin / piece) * piece,
      end: Math.ceil(seen.end / piece) * piece,
    };
  }, getSegments);
  const starts = computed(() =>
    state.value === null ? null : startsOf(state.value.blocks, state.value.segments.length),
  );
  const detail = computed(() => {
    const found = detailed.answer.value.data;
    const now = state.value;
    if (found === null || now === null || found.about.event !== now.about.event) return null;
    return { state: found, starts: startsOf(found.blocks, found.segments.length) };
  });

  const pooled = resource(() => {
    const { window, whole: all, plot, axis } = timeline;
    const wide = Math.round(plot.value.width);
    if (!target.value || wide <= 0 || !hasHistory.value) return null;
    const { begin, end, width: bins } = tileFor(window.value, all.value, wide);
    return { ...target.value, axis: axis.value, begin, end, width: bins };
  }, getPools);

  const list = createList(timeline.cursorEvent);
  const player = createPlayer(timeline, () => asked.answer.peek().loading);

  /** Zooms by doublings about a height of what is in view, which stays where it is. */
  const zoomBy = (doublings: number, at = height.peek() / 2): void => {
    const before = layout.peek();
    const next = Math.min(Math.max(zoom.peek() + doublings, 0), deepest.peek());
    if (next === zoom.peek()) return;
    zoom.value = next;
    const after = layout.peek();
    if (before === null || after === null) return;
    const share = (scroll.peek() + at) / Math.max(1, before.height);
    scroll.value = Math.max(0, Math.min(share * after.height - at, after.height - height.peek()));
  };

  return {
    timeline,
    width,
    height,
    scroll,
    zoom,
    deepest,
    pointed,
    lineBytes,
    marking,
    answer: asked.answer,
    state,
    starts,
    layout,
    detail,
    pools: pooled.answer,
    list,
    player,
    zoomBy,
    dispose: () => {
      player.dispose();
      list.dispose();
      asked.dispose();
      detailed.dispose();
      pooled.dispose();
      timeline.dispose();
    },
  };
}

/** Height of the box of the map while nothing is zoomed: what is fitted, a few headings, some air. */
export const MAP_HEIGHT = (FIT_LINES + 3) * LINE + HEAD;
