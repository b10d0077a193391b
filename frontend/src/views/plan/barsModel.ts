/** What the bars share: the buffers alive at the cursor, which is pointed at, its life and colours. */

import { computed, effect, signal } from "@preact/signals";
import { getPlanBars } from "../../api";
import type { PlanBars } from "../../api/bars";
import { target } from "../../flow/questions";
import { hasHistory } from "../../state";
import { argument } from "../../state/grouping";
import { pointedLife } from "../../state/pointed";
import { resource } from "../../state/resource";
import { by, selection } from "../../state/view";
import { mix } from "../../theme/mix";
import { ink } from "../../theme/theme";
import { coloursFor, gapColour, pickedGroup, standing } from "../../timeline/groupColours";
import { TOP } from "../../timeline/load";
import type { Model } from "../../timeline/model";
import { type Ordered, ordered, placeAt, REST, rowAt } from "./orders";
import type { BarColours } from "./paintBars";

/** Which bar, which place on it, and pixels across where the pointer is; null: keys led there. */
export interface Pointed {
  readonly bar: number;
  readonly place: number;
  readonly x: number | null;
}

export type BarsModel = ReturnType<typeof createBars>;

/** How far padding stands back. */
const PALE = 0.55;

export function createBars(model: Model) {
  const asked = resource(() => {
    const event = model.cursorEvent.value;
    if (!target.value || event === null) return null;
    const at = hasHistory.value ? event : ("peak" as const);
    return { ...target.value, at, by: by.value, pattern: argument.value, top: TOP };
  }, getPlanBars);
  const width = signal(0);
  /** Pixels of all rows before the bars, and down to where the last one ends. */
  const place = signal({ left: 0, bottom: 0 });
  const bars = computed(() => asked.answer.value.data);
  const drawn = computed<Ordered | null>(() =>
    bars.value === null || width.value <= 0 ? null : ordered(bars.value, width.value),
  );
  const pointed = signal<Pointed | null>(null);
  /** The row pointed at; REST for the small ones together. */
  const row = computed<number | null>(() => {
    const order = drawn.value?.orders[pointed.value?.bar ?? 0];
    if (pointed.value === null || order === undefined) return null;
    return rowAt(order, pointed.value.place) ?? null;
  });
  const rowOf = (id: string | undefined): number | null => {
    const found = id === undefined ? -1 : (bars.value?.id.indexOf(Number(id)) ?? -1);
    return found < 0 ? null : found;
  };
  const selected = computed(() =>
    rowOf(selection.value?.kind === "allocation" ? selection.value.id : undefined),
  );
  /** The row that is framed: what is pointed at here, or elsewhere. */
  const framed = computed(() => row.value ?? rowOf(pointedLife.value?.id));
  const colours = computed<BarColours>(() => {
    const paints = ink.value;
    const found = bars.value;
    const given = found ? standing(found.groups, coloursFor(found, found), pickedGroup.value) : [];
    const pairs = given.map((full) => ({ full, padding: mix(full, paints.background, PALE) }));
    const none = { full: paints.quiet, padding: mix(paints.quiet, paints.background, PALE) };
    return {
      of: (at) => pairs[found?.band[at] ?? -1] ?? none,
      rest: gapColour(paints),
      background: paints.background,
    };
  });
  const point = (bar: number, x: number): void => {
    const order = drawn.peek()?.orders[bar];
    const total = drawn.peek()?.total ?? 0;
    const place = order ? placeAt(order, (x / width.peek()) * total, total) : null;
    pointed.value = place === null ? null : { bar, place, x };
  };
  const select = (): void => {
    const at = row.peek();
    const found = bars.peek();
    if (at === null || at === REST || found === null) return;
    selection.value = { kind: "allocation", id: String(found.id[at]) };
  };
  const forget = effect(() => {
    // What was pointed at is another one on other bars.
    bars.value;
    width.value;
    pointed.value = null;
  });
  const lend = effect(() => {
    const [at, found] = [row.value, bars.value];
    pointedLife.value = at === null || at === REST || found === null ? null : lifeOf(found, at);
  });
  return {
    answer: asked.answer,
    width,
    place,
    bars,
    drawn,
    pointed,
    row,
    selected,
    framed,
    colours,
    point,
    select,
    dispose: () => {
      forget();
      lend();
      pointedLife.value = null;
      asked.dispose();
    },
  };
}

function lifeOf(bars: PlanBars, row: number) {
  const event = (value: number | undefined) =>
    value === undefined || Number.isNaN(value) ? null : value;
  return {
    id: String(bars.id[row]),
    birth: event(bars.birth[row]),
    death: event(bars.death[row]),
    bytes: bars.bytes[row] ?? 0,
  };
}
