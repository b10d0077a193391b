/** Fetches what the timeline shows: the visible window, the whole for the map, and the tracks. */

import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { type Axis, getTracks, getUsage, type Target, type Tracks, type Usage } from "../api";
import { argument, by, device, sourceId, summary } from "../state";
import type { Tile } from "./grid";
import { Recent } from "./recent";
import { type Range, sameRange, span } from "./scale";
import { type Kept, slot } from "./slot";

/**
 * Groups drawn with a colour of their own; the server sums up the others, but for one that is left over
 * alone: there are sixteen colours.
 */
export const TOP = 15;
/** Pixels that the server answers for at most. */
const WIDEST = 16_384;
interface Question extends Target {
  readonly axis: Axis;
  readonly by: string;
  readonly pattern: string;
  readonly areas: "groups" | "allocator";
}

/** What is known for drawing. The last picture stays until a better one has arrived. */
export interface Loader {
  readonly detail: ReadonlySignal<Usage | null>;
  readonly whole: ReadonlySignal<Usage | null>;
  readonly tracks: ReadonlySignal<Tracks | null>;
  readonly loading: ReadonlySignal<boolean>;
  /** One sentence if the last request failed. */
  readonly failure: ReadonlySignal<string | null>;
  retry(): void;
  dispose(): void;
}

export interface Wanted {
  readonly axis: ReadonlySignal<Axis>;
  readonly whole: ReadonlySignal<Range>;
  readonly window: ReadonlySignal<Range>;
  /** Pixels the window fills. */
  readonly width: ReadonlySignal<number>;
  /** Whether the curve is wanted by stack, heap and free, as the allocator reports them. */
  readonly byArea?: ReadonlySignal<boolean>;
  /** While this is true nothing is asked: something else is wanted first. */
  readonly isHeld?: ReadonlySignal<boolean>;
}

export function createLoader(wanted: Wanted): Loader {
  const attempt = signal(0);
  const question = computed<Question | null>(() => {
    const source = sourceId.value;
    const shown = summary.value;
    const of = device.value;
    if (source === null || shown === null || of === null) return null;
    const target = { source, version: shown.version, device: of.key };
    return {
      ...target,
      axis: wanted.axis.value,
      by: by.value,
      pattern: argument.value,
      areas: wanted.byArea?.value ? "allocator" : "groups",
    };
  });
  const place = computed(() => {
    const now = question.value;
    return now === null ? "" : JSON.stringify([now.source, now.device, now.axis]);
  });

  const usageOf = (tile: Tile, now: Question, abort: AbortSignal) =>
    getUsage({ ...now, begin: tile.begin, end: tile.end, width: tile.width, top: TOP }, abort);
  const tracksOf = (
    tile: Tile,
    { by: _by, pattern: _pattern, areas: _areas, ...now }: Question,
    abort: AbortSignal,
  ) => {
    // Zoomed to a few units, what is asked for is far wider than what is seen of it.
    const width = Math.round((wanted.width.value * span(tile)) / span(wanted.window.value));
    return getTracks(
      { ...now, begin: tile.begin, end: tile.end, width: Math.min(Math.max(1, width), WIDEST) },
      abort,
    );
  };
  const shared = new Recent<Kept<Usage>>(32);
  const context = { ...wanted, question, attempt };
  const detail = slot(context, wanted.window, usageOf, shared);
  // While everything is in view the two are one: the map waits for the chart's answer.
  const awaited = computed(() =>
    sameRange(wanted.window.value, wanted.whole.value) ? (detail.value.value ?? "none yet") : null,
  );
  const isSame = () => awaited.value !== null;
  const whole = slot(context, wanted.whole, usageOf, shared, isSame);
  const tracks = slot(context, wanted.window, tracksOf, new Recent<Kept<Tracks>>(32));

  const slots = [detail, whole, tracks];
  const forget = effect(() => {
    // Another source, device or axis: the old picture would be a lie.
    place.value;
    batch(() => {
      for (const { value, failure } of slots) {
        value.value = null;
        failure.value = null;
      }
    });
  });
  const stops = [forget, detail.watch(), whole.watch(), tracks.watch()];
  return {
    detail: detail.value,
    whole: whole.value,
    tracks: tracks.value,
    loading: computed(() => detail.loading.value || whole.loading.value),
    failure: computed(() => slots.find(({ failure }) => failure.value)?.failure.value ?? null),
    retry: () => {
      for (const { failure } of slots) failure.value = null;
      attempt.value++;
    },
    dispose: () => {
      for (const stop of stops) stop();
    },
  };
}
