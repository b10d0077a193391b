/** One panel of tracks: what lies where in it, what is in sight, and the items asked for that. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import {
  getTraceItems,
  type Target,
  type Trace,
  type TraceItems,
  type TraceTrack,
} from "../../../api";
import { target } from "../../../flow/questions";
import { findSpan, foldedTracks, hiddenTracks, pinnedTracks } from "../../../state/trace";
import type { Tile } from "../../../timeline/grid";
import type { Point, Model as Timeline } from "../../../timeline/model";
import { Recent } from "../../../timeline/recent";
import { type Kept, slot } from "../../../timeline/slot";
import { itemAt, lanesOf } from "./items";
import {
  between,
  heightOf,
  type InSight,
  inSight,
  laneAt,
  type Placed,
  placeTracks,
} from "./layout";

/** So far below the chart that it says nothing of the pointer but where it is on the axis. */
export const FAR = 1e9;
/** Share of what is in sight that is asked for beyond it. */
const AROUND = 0.5;
/** Pixels beside a narrow item at which it is pointed at too. */
const SLACK = 2;
/** Windows of items kept, of all panels. */
const KEPT = 24;

interface Question extends Target {
  readonly tracks: string;
  readonly find: string;
}

/** What is pointed at: an item of an answer. */
export interface Pointed {
  readonly of: TraceItems;
  readonly at: number;
}

export type Panel = ReturnType<typeof createPanel>;

/** `kind` says whose tracks it has. */
export function createPanel(
  timeline: Timeline,
  trace: ReadonlySignal<Trace | null>,
  kind: TraceTrack["kind"],
) {
  const scrolled = signal(0);
  /** Pixels in sight. */
  const seen = signal(0);
  /** In pixels of the plot across, of what is in sight down; null while the pointer is elsewhere. */
  const pointer = signal<Point | null>(null);
  const tracks = computed(() => trace.value?.tracks.filter((track) => track.kind === kind) ?? []);
  const placed = computed<readonly Placed[]>(() =>
    placeTracks(tracks.value, pinnedTracks.value, hiddenTracks.value, foldedTracks.value),
  );
  const height = computed(() => heightOf(placed.value));
  const shown = computed(() => inSight(placed.value, scrolled.value, seen.value));
  const asked = computed(() => {
    // In steps of what is asked for beyond, so that scrolling does not ask all the time.
    const step = Math.max(seen.value * AROUND, 1);
    const top = Math.floor(scrolled.value / step) * step;
    const near = between(placed.value, top - step, top + seen.value + 2 * step);
    const ids = [...shown.value.staying, ...near].map(({ track }) => track.id);
    return [...new Set(ids)].sort().join(",");
  });
  const attempt = signal(0);
  const question = computed<Question | null>(() =>
    target.value === null || asked.value === "" || seen.value <= 0
      ? null
      : { ...target.value, tracks: asked.value, find: findSpan.value },
  );
  const width = computed(() => timeline.plot.value.width);
  const ask = ({ begin, end, width: across }: Tile, of: Question, abort: AbortSignal) =>
    getTraceItems({ ...of, begin, end, width: across }, abort);
  const items = slot(
    { whole: timeline.whole, width, question, attempt },
    timeline.window,
    ask,
    new Recent<Kept<TraceItems>>(KEPT),
  );
  const pointed = computed<Pointed | null>(() => {
    const [at, of] = [pointer.value, items.value.value];
    if (at === null || of === null || timeline.brush.value !== null) return null;
    return itemUnder(timeline, shown.value, of, at);
  });
  const stops = [
    items.watch(),
    effect(() => {
      // What another recording did would be a lie.
      trace.value;
      items.value.value = null;
    }),
    effect(() => {
      const at = pointer.value;
      timeline.pointer.value = at === null ? null : { x: at.x, y: FAR };
    }),
  ];
  return {
    kind,
    timeline,
    trace,
    scrolled,
    seen,
    pointer,
    tracks,
    placed,
    height,
    inSight: shown,
    items: items.value as ReadonlySignal<TraceItems | null>,
    loading: items.loading as ReadonlySignal<boolean>,
    failure: items.failure as ReadonlySignal<string | null>,
    pointed,
    /** The item at a point, as `pointer` has it. */
    itemAt: (at: Point): Pointed | null => {
      const of = items.value.peek();
      return of === null ? null : itemUnder(timeline, shown.peek(), of, at, true);
    },
    retry: () => {
      items.failure.value = null;
      attempt.value++;
    },
    dispose: () => {
      for (const stop of stops) stop();
    },
  };
}

function itemUnder(
  { window, plot }: Timeline,
  shown: InSight,
  of: TraceItems,
  { x, y }: Point,
  quietly = false,
): Pointed | null {
  const lane = laneAt(shown, y);
  const { begin, end } = quietly ? window.peek() : window.value;
  const pixel = (end - begin) / Math.max((quietly ? plot.peek() : plot.value).width, 1);
  const at = lane === null ? -1 : itemAt(lanesOf(of), lane, begin + x * pixel, SLACK * pixel);
  return at < 0 ? null : { of, at };
}
