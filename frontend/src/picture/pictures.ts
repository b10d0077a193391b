/** Keeps a picture of what is asked for: tiles fetched, drawn in the worker, one picture at a time. */

import { batch, effect, type ReadonlySignal, signal } from "@preact/signals";
import { during, later } from "../api";
import type { Chosen } from "../drawing/columns";
import type { Drawn } from "../drawing/messages";
import type { Palette } from "../drawing/palette";
import type { Runs, View } from "../drawing/sheet";
import { type Numbering, numbering } from "../drawing/things";
import type { Tile } from "../drawing/tile";
import { isLost, renewed, visible } from "../state";
import type { Reach } from "../timeline/reach";
import { type Range, sameRange } from "../timeline/scale";
import type { Plot } from "../timeline/scene";
import { type Cover, cover } from "./cover";
import { besides, levelFor, type Place, placesAt, rangeOf, type Shape, shapeFor } from "./grid";
import { nameOf, type Question } from "./question";
import { TileStore } from "./store";

/** A picture as it was drawn, with everything to tell what is in it. */
export interface Picture {
  readonly question: Question;
  readonly view: View;
  readonly tiles: readonly Tile[];
  readonly runs: Runs;
  readonly chosen: Chosen;
  readonly numbers: Numbering;
  /** Taken over by the canvas that shows it. */
  readonly bitmap: ImageBitmap;
  /** Whether every part is as fine as it was asked for. */
  readonly isWhole: boolean;
  readonly took: number;
}

export interface Wanted {
  readonly question: ReadonlySignal<Question | null>;
  readonly whole: ReadonlySignal<Range>;
  readonly window: ReadonlySignal<Range>;
  /** What is drawn of the axis. */
  readonly reach: ReadonlySignal<Reach>;
  readonly bytes: ReadonlySignal<Range>;
  readonly plot: ReadonlySignal<Plot>;
  readonly ratio: ReadonlySignal<number>;
  /** The colours for tiles; reads signals, so that the picture follows them. */
  readonly palette: (tiles: readonly Tile[]) => Palette;
}

/** While a gesture lasts, tiles are asked for this often, in ms. */
const PACE = 60;
/** Device pixels a picture has at most; beyond, it is drawn in CSS pixels and scaled up. */
const MOST_PIXELS = 4_000_000;

/** Tiles outlast the view: coming back to it costs nothing. */
const store = new TileStore();
/** Whose wishes the store has: those of the next view may come before this one is left. */
let wishing: object | null = null;

export type Pictures = ReturnType<typeof createPictures>;

export function createPictures(wanted: Wanted) {
  /** What is shown; and the last one of everything, which is seen where the newer one does not reach. */
  const front = signal<Picture | null>(null);
  const base = signal<Picture | null>(null);
  const failure = signal<string | null>(null);
  const attempt = signal(0);
  let isBusy = false;
  let isStale = false;
  let isClosed = false;

  const plan = () => {
    const question = wanted.question.peek();
    if (question === null || !visible.peek()) return;
    const { missing, ahead, shape } = coverOf(question, wanted);
    wishing = wanted;
    store.wish([
      ...fromMiddle(missing).map((place) => ({ question, place, shape })),
      ...ahead.map((place) => ({ question, place, shape, isAhead: true })),
    ]);
  };
  const draw = async () => {
    if (isBusy) {
      isStale = true;
      return;
    }
    const question = wanted.question.peek();
    if (question === null || !visible.peek()) return;
    const view = viewOf(wanted, true);
    const found = coverOf(question, wanted);
    const seen = wanted.window.peek();
    const isWhole = !found.missing.map(rangeOf).some((range) => overlap(range, seen));
    // Nothing of one question is shown beside another's answer.
    const shown = front.peek();
    const isNew = shown === null || nameOf(shown.question) !== nameOf(question);
    if (found.parts.length === 0 || (isNew && shown !== null && !isWhole)) return;
    const keys = [...new Set(found.parts.map(({ key }) => key))];
    const tiles = keys.flatMap((key) => store.use(key) ?? []);
    const parts = found.parts.map(({ key, begin, end }) => ({
      tile: keys.indexOf(key),
      begin,
      end,
    }));
    isBusy = true;
    isStale = false;
    try {
      const order = { keys, parts, view, palette: wanted.palette(tiles) };
      const drawn = await during(store.studio.draw(order));
      if (!isClosed) await show({ question, view, tiles, isWhole, drawn });
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
    }
    isBusy = false;
    if (isStale && !isClosed) void draw();
  };
  const show = async (made: Made) => {
    const { drawn, ...rest } = made;
    const { bitmap, runs, chosen, took } = drawn;
    const numbers = numbering(rest.tiles);
    const picture: Picture = { ...rest, runs, chosen, numbers, bitmap, took };
    const all = wanted.whole.peek();
    const isAll = made.isWhole && sameRange({ begin: made.view.begin, end: made.view.end }, all);
    const copy = isAll ? await createImageBitmap(bitmap) : null;
    batch(() => {
      front.value = picture;
      if (copy !== null) base.value = { ...picture, bitmap: copy };
      else if (base.value && nameOf(base.value.question) !== nameOf(rest.question))
        base.value = null;
    });
  };

  let callOff: (() => void) | undefined;
  let isDue = false;
  const stops = [
    effect(() => {
      viewOf(wanted);
      wanted.question.value;
      visible.value;
      renewed.value;
      attempt.value;
      if (isDue) return;
      isDue = true;
      const ask = () => {
        isDue = false;
        if (!isClosed) plan();
      };
      if (front.peek() === null) queueMicrotask(ask);
      else callOff = later(ask, PACE);
    }),
    effect(() => {
      const view = viewOf(wanted);
      wanted.question.value;
      store.arrived.value;
      visible.value;
      // Read for what it follows; a new picture alone is no reason to draw one.
      wanted.palette(front.peek()?.tiles ?? []);
      if (view.width > 0 && view.height > 0) void draw();
    }),
    effect(() => {
      const error = store.failure.value;
      if (error !== null) isLost(error);
      failure.value = error?.message ?? null;
    }),
  ];
  return {
    front: front as ReadonlySignal<Picture | null>,
    base: base as ReadonlySignal<Picture | null>,
    loading: store.loading as ReadonlySignal<boolean>,
    failure: failure as ReadonlySignal<string | null>,
    retry: () => {
      failure.value = null;
      attempt.value++;
    },
    dispose: () => {
      isClosed = true;
      callOff?.();
      if (wishing === wanted) store.wish([]);
      for (const stop of stops) stop();
    },
  };
}

interface Made {
  readonly question: Question;
  readonly view: View;
  readonly tiles: readonly Tile[];
  readonly isWhole: boolean;
  readonly drawn: Drawn;
}

const fineness = ({ width, height }: Plot, ratio: number): number =>
  width * height * ratio * ratio <= MOST_PIXELS ? ratio : 1;

function viewOf({ reach, bytes, plot, ratio }: Wanted, quietly = false): View {
  const of = <Value>(source: ReadonlySignal<Value>) => (quietly ? source.peek() : source.value);
  const { width, height } = of(plot);
  const fine = fineness(of(plot), of(ratio));
  const [{ begin, end, times }, tall] = [of(reach), of(bytes)];
  return {
    begin,
    end,
    low: tall.begin,
    high: tall.end,
    width: Math.round(width * fine * times),
    height: Math.round(height * fine),
  };
}

/** Tiles for what is drawn; `ahead` are those beside it that are not at hand. */
function coverOf(
  question: Question,
  wanted: Wanted,
): Cover & { readonly ahead: readonly Place[]; readonly shape: Shape } {
  const { width, height, low, high, begin, end } = viewOf(wanted, true);
  const whole = wanted.whole.peek();
  if (width <= 0 || height <= 0)
    return { parts: [], missing: [], ahead: [], shape: shapeFor(whole, 1) };
  const bytes = { begin: low, end: high };
  const shape = shapeFor(bytes, height);
  const plot = wanted.plot.peek();
  const across = Math.round(plot.width * fineness(plot, wanted.ratio.peek()));
  const places = placesAt(levelFor(wanted.window.peek(), across), { begin, end }, whole);
  const held = store.held(nameOf(question));
  const { missing: ahead } = cover(besides(places, whole), shape, bytes, held);
  return { ...cover(places, shape, bytes, held), ahead, shape };
}

const overlap = (a: Range, b: Range): boolean => a.begin < b.end && b.begin < a.end;

/** What one looks at comes first. */
function fromMiddle(places: readonly Place[]): Place[] {
  const middle = (places.length - 1) / 2;
  return places
    .map((place, at) => ({ place, off: Math.abs(at - middle) }))
    .sort((a, b) => a.off - b.off)
    .map(({ place }) => place);
}
