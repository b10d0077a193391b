/** The picture's own state beside the page's: the vertical, the pointer, rulers, and the picture. */

import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Palette } from "../drawing/palette";
import type { Tile } from "../drawing/tile";
import { card, target } from "../flow/questions";
import { highestOf } from "../picture/highest";
import { createPictures, type Picture } from "../picture/pictures";
import { HEADROOM, plainPalette } from "../picture/plain";
import type { Spot } from "../picture/pointing";
import { nameOf, type Question } from "../picture/question";
import {
  argument,
  by,
  bytesRange,
  cursor,
  device,
  filter,
  minimum,
  only,
  selection,
} from "../state";
import { pickedGroup } from "../timeline/groupColours";
import { heightFor } from "../timeline/height";
import {
  createModel as createTimeline,
  type Point,
  type Model as Timeline,
} from "../timeline/model";
import { clampWindow, type Range, roundWindow, sameRange } from "../timeline/scale";
import { shownLayout } from "./layouts";

/** A rectangle of axis and bytes; a side is null while it is not zoomed. */
export interface Area {
  readonly window: Range | null;
  readonly bytes: Range | null;
}

export interface Ruler {
  readonly from: Spot;
  readonly to: Spot;
}

export type Model = ReturnType<typeof createModel>;

/** `shared` is the timeline of a view that has other panels on it and ends it itself. */
export function createModel(shared?: Timeline) {
  /** The curve on the map comes after the first picture: the server makes one after the other. */
  const isHeld = signal(true);
  const timeline = shared ?? createTimeline(isHeld);
  const { window, whole, plot, ratio, reach } = timeline;
  /** In pixels of the plot; null while the pointer is elsewhere. */
  const pointer = signal<Point | null>(null);
  const brush = signal<Area | null>(null);
  const ruler = signal<Ruler | null>(null);
  /** Whether a drag measures instead of zooming. */
  const measures = signal(false);
  /** What is searched for, once it has been found to be readable. */
  const searched = signal("");

  const question = computed<Question | null>(() => {
    const of = target.value;
    if (of === null) return null;
    return {
      ...of,
      layout: shownLayout.value,
      axis: timeline.axis.value,
      by: by.value,
      pattern: argument.value,
      only: only.value,
      at: only.value === "alive" ? (cursor.value ?? "peak") : null,
      minimum: minimum.value,
      filter: filter.value,
      find: searched.value,
    };
  });
  const top = topOf(question);
  /** Of all that is allocated it reaches up to the capacity where that is near, as the chart does. */
  const tall = computed<Range>(() => {
    const near = isWhole(question.value) ? (device.value?.capacity ?? null) : null;
    const { top: end } = heightFor(top.value / HEADROOM, null, near);
    return { begin: 0, end: Math.max(2, near === null ? top.value : end) };
  });
  const fine = signal<Range | null>(null);
  const bytes = computed<Range>(() => {
    if (bytesRange.value === null) return tall.value;
    const isSame = fine.value !== null && sameRange(roundWindow(fine.value), bytesRange.value);
    return clampWindow(isSame && fine.value !== null ? fine.value : bytesRange.value, tall.value);
  });
  const pictures = createPictures({
    question,
    whole,
    window,
    reach,
    bytes,
    plot,
    ratio,
    palette: paletteFor,
  });
  /** What is mapped, in the address layout. */
  const stretches = computed(() => pictures.front.value?.tiles[0]?.about.segments ?? []);
  const stopLearning = learnTop(pictures.front, question, top);
  const stopHolding = effect(() => {
    if (pictures.front.value !== null || pictures.failure.value !== null) isHeld.value = false;
  });

  const setBytes = (wanted: Range): void => {
    const next = clampWindow(wanted, tall.peek());
    batch(() => {
      fine.value = next;
      bytesRange.value = sameRange(next, tall.peek()) ? null : roundWindow(next);
    });
  };
  return {
    timeline,
    question,
    bytes,
    tall,
    pictures,
    stretches,
    pointer,
    brush,
    ruler,
    measures,
    searched,
    setBytes,
    /** Zooms to an area; sides that are null stay as they are. */
    setArea: ({ window: across, bytes: up }: Area): void =>
      batch(() => {
        if (across !== null) timeline.setWindow(across);
        if (up !== null) setBytes(up);
      }),
    fit: (): void =>
      batch(() => {
        timeline.fit();
        bytesRange.value = null;
      }),
    /** Makes what is in view as tall as there is room. */
    fitHeight: (): void => {
      const picture = pictures.front.peek();
      if (picture !== null)
        setBytes({ begin: 0, end: highestIn(picture, window.peek()) * HEADROOM });
    },
    dispose: () => {
      stopLearning();
      stopHolding();
      pictures.dispose();
      if (shared === undefined) timeline.dispose();
    },
  };
}

/** Questions of which it is remembered how tall their picture is: every moment may be another one. */
const REMEMBERED = 100;

/** How tall the picture of a question is; the device's peak until its tiles have told. */
function topOf(question: ReadonlySignal<Question | null>) {
  const told = signal<ReadonlyMap<string, number>>(new Map());
  const known = computed(() => {
    const asked = question.value;
    const peak = (device.value?.allocated_peak ?? 0) * HEADROOM;
    return (asked === null ? undefined : told.value.get(nameOf(asked))) ?? peak;
  });
  return Object.assign(known, {
    tell: (asked: Question, height: number) => {
      told.value = new Map([...told.peek()].slice(-REMEMBERED)).set(nameOf(asked), height);
    },
  });
}

/** Whether a picture is of all that is allocated, stacked: as tall as the chart. */
const isWhole = (asked: Question | null): boolean =>
  asked?.layout === "stacked" && asked.only === "all" && asked.minimum === 0 && asked.filter === "";

/** Takes from the tiles how tall the picture is, where that is not the device's peak. */
function learnTop(
  front: ReadonlySignal<Picture | null>,
  question: ReadonlySignal<Question | null>,
  top: ReturnType<typeof topOf>,
): () => void {
  return front.subscribe((picture) => {
    const asked = question.peek();
    if (picture === null || asked === null || nameOf(picture.question) !== nameOf(asked)) return;
    if (isWhole(asked)) return;
    const height =
      asked.layout === "stacked"
        ? highestIn(picture, picture.view)
        : Math.max(...picture.tiles.map(({ about }) => about.extent));
    // An empty picture keeps the scale it has.
    if (height <= 1) return;
    // It only grows while one looks around: a picture that changes its scale is hard to follow.
    const isFirst = top.peek() === (device.peek()?.allocated_peak ?? 0) * HEADROOM;
    const next = height * (asked.layout === "stacked" ? HEADROOM : 1);
    if (isFirst ? next !== top.peek() : next > top.peek()) top.tell(asked, next);
  });
}

/** Bytes at the highest place of a picture in a window, at least 1. */
const highestIn = (picture: Picture, window: Range): number =>
  Math.max(1, highestOf(picture, window)?.total ?? 1);

/** Colours of tiles; reads signals, so that a picture follows theme, selection and search. */
function paletteFor(tiles: readonly Tile[]): Palette {
  const picked = pickedGroup.value;
  const chosen = selection.value;
  const id = chosen?.kind === "allocation" ? Number(chosen.id) : null;
  const known = id === null ? null : card.value.data;
  const family = known !== null && Number(known.id) === id ? known.siblings : null;
  return {
    ...plainPalette(tiles),
    faint: tiles.map(({ about: { groups } }) => {
      const isThere = groups.some(({ key }) => key === picked);
      return isThere ? groups.flatMap(({ key }, at) => (key === picked ? [] : [at])) : [];
    }),
    selected: id,
    siblings: (family?.ids ?? []).map(Number),
    searching: tiles.some(({ about }) => about.hits !== null),
  };
}
