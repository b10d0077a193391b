/** The timeline's own state beside the page's: sizes, toggles, pointer, and what follows from them. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Axis, Mark, TrackItem, Usage } from "../api";
import { about, axis, converter, cursor, device, extent, hasTime, range } from "../state";
import { createLines } from "./lines";
import { createLoader, type Loader } from "./load";
import type { OtherLine } from "./otherLine";
import { createReach } from "./reach";
import { convertRange, neighbourRow, placeOfEvent, placeOfRow } from "./rows";
import { clampWindow, panWindow, type Range, roundWindow, sameRange, span } from "./scale";
import { type Plot, placeOfPeak, pointedAt, type Scene, sceneFor, sheetsFor } from "./scene";

/** Pixels beside the plot, the same for chart, tracks and map. */
export const LEFT = 68;
const RIGHT = 16;
const RIGHT_WITH_AXIS = 48;
/** Pixels above and below the plot in the chart's canvas. */
export const ABOVE = 20;
export const BELOW = 24;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Model = ReturnType<typeof createModel>;

/**
 * Its curve is not asked for while `isHeld`. `followsAreas`: it is divided into stack, heap and free
 * where that is chosen and the allocator reports them. `beside`: what else the axis of time holds.
 */
export function createModel(
  isHeld?: ReadonlySignal<boolean>,
  followsAreas = false,
  beside?: ReadonlySignal<Range | null>,
) {
  const width = signal(0);
  const height = signal(0);
  /** Device pixels a CSS pixel. */
  const ratio = signal(1);
  const lines = createLines(followsAreas);
  const { byArea, showFree, showReserved, showCapacity, isFragmentationShown } = lines;
  /** In pixels of the plot; null while the pointer is elsewhere. */
  const pointer = signal<Point | null>(null);
  const brush = signal<Range | null>(null);
  /** What a view has drawn beside the picture, where it has something. */
  const otherLine = signal<OtherLine | null>(null);
  const showOther = signal(true);
  const before: Range[] = [];

  const shownAxis = computed<Axis>(() => (hasTime.value ? axis.value : "event"));
  const whole = computed<Range>(() => {
    const inTime = shownAxis.value === "time" ? around(extent.value, beside?.value ?? null) : null;
    // One moment without a history is drawn as one event that lasts.
    return inTime ?? { begin: 0, end: Math.max(device.value?.events ?? 0, 1) };
  });
  /** The window to the fraction, where the shared one is its rounding: zooming in stays steady. */
  const fine = signal<Range | null>(null);
  const window = computed<Range>(() => {
    if (range.value === null) return whole.value;
    const isSame = fine.value !== null && sameRange(roundWindow(fine.value), range.value);
    return clampWindow(isSame && fine.value !== null ? fine.value : range.value, whole.value);
  });
  const right = computed(() => (isFragmentationShown.value ? RIGHT_WITH_AXIS : RIGHT));
  const plotWidth = computed(() => Math.max(0, width.value - LEFT - right.value));
  const loader: Loader = createLoader({
    axis: shownAxis,
    whole,
    window,
    width: plotWidth,
    byArea,
    ...(isHeld && { isHeld }),
  });

  const plot = computed<Plot>(() => ({
    left: LEFT,
    top: ABOVE,
    width: plotWidth.value,
    height: Math.max(0, height.value - ABOVE - BELOW),
    columns: Math.round(plotWidth.value * ratio.value),
  }));
  const drawn = createReach({ whole, window, plot });
  const sheets = computed(() =>
    sheetsFor(
      loader.detail.value,
      loader.whole.value,
      window.value,
      plot.value.columns,
      showFree.value,
    ),
  );
  const marks = computed<readonly Mark[]>(() => loader.tracks.value?.marks ?? []);
  const steps = computed<readonly TrackItem[]>(() => loader.tracks.value?.steps ?? []);
  const scene = computed<Scene | null>(() => {
    const of = device.value;
    if (of === null || plot.value.width <= 0) return null;
    const shown = { reserved: showReserved.value && !byArea.value, capacity: showCapacity.value };
    return sceneFor(
      shownAxis.value,
      window.value,
      plot.value,
      sheets.value,
      of,
      marks.value,
      shown,
    );
  });
  const pointed = computed(() =>
    // The scene is made anew for every window: nobody needs it while nothing is pointed at.
    pointer.value === null || scene.value === null ? null : pointedAt(scene.value, pointer.value.x),
  );

  const cursorEvent = computed(() => cursor.value ?? device.value?.peak_event ?? null);
  const cursorPlace = computed(() => {
    const event = cursorEvent.value;
    const of = device.value;
    if (event === null || of === null) return null;
    if (event === of.peak_event) return placeOfPeak(of, shownAxis.value);
    if (event < 0) return whole.value.begin;
    const { detail, whole: all } = loader;
    return placeIn(detail.value, event) ?? placeIn(all.value, event);
  });

  const setWindow = (wanted: Range, remember = true): void => {
    const all = whole.peek();
    const next = clampWindow(wanted, all);
    const last = window.peek();
    if (sameRange(next, last)) return;
    if (remember) before.push(last);
    if (before.length > 100) before.shift();
    batch(() => {
      fine.value = next;
      range.value = sameRange(next, all) ? null : roundWindow(next);
    });
  };
  const setCursor = (event: number): void => {
    cursor.value = event === device.peek()?.peak_event ? null : event;
  };
  /** Moves the cursor to the next or previous instant drawn, and the window along if it must. */
  const moveCursor = (direction: 1 | -1): void => {
    const usage = loader.detail.peek();
    const event = cursorEvent.peek();
    if (usage === null || event === null) return;
    const row = neighbourRow(usage, event, direction);
    if (row < 0) return;
    setCursor(usage.event[row] as number);
    const place = placeOfRow(usage, row);
    const shown = window.peek();
    if (place >= shown.begin && place <= shown.end) return;
    setWindow(panWindow(shown, whole.peek(), place - (shown.begin + span(shown) / 2)), false);
  };

  const convert = (of: Range): Range | null => {
    const usage = loader.detail.peek();
    return usage === null ? null : convertRange(usage, of);
  };
  converter.value = convert;

  return {
    width,
    height,
    ratio,
    ...lines,
    followsAreas,
    pointer,
    brush,
    otherLine,
    showOther,
    axis: shownAxis,
    whole,
    window,
    /** What is drawn of the axis by what moves with the window, and where that last rested. */
    reach: drawn.reach,
    still: drawn.still,
    right,
    plot,
    loader,
    steps,
    marks,
    scene,
    pointed,
    cursorEvent,
    cursorPlace,
    setWindow,
    setCursor,
    moveCursor,
    fit: () => setWindow(whole.peek()),
    canGoBack: () => before.length > 0,
    back: () => setWindow(before.pop() ?? whole.peek(), false),
    dispose: () => {
      // The next view's is there before this one is left.
      if (converter.peek() === convert) converter.value = null;
      drawn.dispose();
      loader.dispose();
    },
    basis: computed(() => about.value?.basis ?? "requested"),
  };
}

const around = (range: Range | null, other: Range | null): Range | null =>
  range && other
    ? { begin: Math.min(range.begin, other.begin), end: Math.max(range.end, other.end) }
    : range;

function placeIn(usage: Usage | null, event: number): number | null {
  return usage === null ? null : placeOfEvent(usage, event);
}
