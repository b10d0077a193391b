/** A list of the window shown, a page at a time: asked for while it is on the page. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Axis, later, type Target } from "../../api";
import { target } from "../../flow/questions";
import { axis, hasTime, range } from "../../state";
import { type Answer, resource } from "../../state/resource";

/** Rows of a page. */
export const PAGE = 100;
/** Wait this long for a window that is being moved to rest, in ms. */
const SETTLE = 150;

/** What every list is asked: a window (all: null) and where its page begins. */
export interface Asked extends Target {
  axis: Axis;
  begin: number | null;
  end: number | null;
  offset: number;
  limit: number;
}

export interface List<Query, Page> {
  readonly answer: ReadonlySignal<Answer<Page>>;
  readonly query: ReadonlySignal<Query | null>;
  readonly offset: ReadonlySignal<number>;
  turn(offset: number): void;
}

/** The list that `more` narrows and orders; it begins anew where that, or the window, changes. */
export function useList<More extends object, Page>(
  more: () => More,
  ask: (query: Asked & More, abort: AbortSignal) => Promise<Page>,
): List<Asked & More, Page> {
  const made = useMemo(() => {
    const rested = signal(range.peek());
    /** Where the page begins, of which question. */
    const place = signal({ of: "", offset: 0 });
    const question = computed(() => {
      const of = target.value;
      if (of === null) return null;
      const { begin, end } = rested.value ?? { begin: null, end: null };
      return { ...of, axis: hasTime.value ? axis.value : "event", begin, end, ...more() } as const;
    });
    const words = computed(() => JSON.stringify(question.value));
    const offset = computed(() => (place.value.of === words.value ? place.value.offset : 0));
    const query = computed(() =>
      question.value ? { ...question.value, offset: offset.value, limit: PAGE } : null,
    );
    const rest = effect(() => {
      const next = range.value;
      if (JSON.stringify(next) === JSON.stringify(rested.peek())) return;
      return later(() => {
        rested.value = next;
      }, SETTLE);
    });
    const { answer, dispose } = resource(() => query.value, ask);
    const end = () => {
      rest();
      dispose();
    };
    const turn = (to: number) => {
      place.value = { of: words.peek(), offset: to };
    };
    return { answer, query, offset, turn, end };
  }, []);
  useEffect(() => made.end, [made]);
  return made;
}
