/** The list of all events: which rows are known, where it is scrolled, and where the cursor is. */

import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { type EventPage, type EventRow, getEvents, later, wasAborted } from "../api";
import { target } from "../flow/questions";
import { device, isLost, renewed, visible } from "../state";
import { resource, words } from "../state/resource";
import { cursor, eventFilter, filter as shared } from "../state/view";
import { CHUNK, chunksFor, scalingFor, topToSee } from "./scaling";

export type List = ReturnType<typeof createList>;

/** Chunks that are kept. */
const KEPT = 60;

export function createList(cursorEvent: ReadonlySignal<number | null>) {
  const typed = eventFilter;
  /** What is typed here, of what passes the filter that all views share. */
  const filter = computed(() => [shared.value, typed.value].filter(Boolean).join(" "));
  /** Row at the top of the box, with its fraction. */
  const top = signal(0);
  const seen = signal(0);
  const chunks = signal<ReadonlyMap<number, readonly EventRow[]>>(new Map());
  const failure = signal<string | null>(null);

  /** How many events pass, and the row of the one at the cursor. */
  const place = resource(
    () => {
      if (!target.value || (device.value?.events ?? 0) === 0) return null;
      const near = Math.max(0, cursorEvent.value ?? 0);
      return { ...target.value, filter: filter.value, offset: 0, limit: 0, near };
    },
    (query, abort) => getEvents(query, abort).then((page) => ({ page, of: query })),
  );
  const known = computed<EventPage | null>(() => place.answer.value.data?.page ?? null);
  const count = computed(() => known.value?.count ?? 0);
  const scaling = computed(() => scalingFor(count.value, seen.value));
  /** Row of the cursor's event, or of the first that passes after it. */
  const row = computed(() => known.value?.near?.row ?? 0);
  const passes = computed(
    () => (known.value?.near?.passes ?? false) && (cursorEvent.value ?? -1) >= 0,
  );
  const question = computed(() =>
    target.value ? JSON.stringify([target.value, filter.value]) : "",
  );

  /** Steps asked for while the last one was not taken yet: no key press is lost. */
  let owed = 0;
  /** Whether a row to go to is on its way, and how often one was gone to: the last one counts. */
  const going = signal(false);
  let turns = 0;
  const forget = effect(() => {
    question.value;
    owed = 0;
    chunks.value = new Map();
    failure.value = null;
  });
  const follow = effect(() => {
    if (known.value === null) return;
    const next = topToSee(scaling.value, top.peek(), seen.value, row.value);
    if (next !== top.peek()) top.value = next;
  });
  const wanted = computed(() => chunksFor(top.value, seen.value, count.value).join(","));
  /** Whether the count is of this filter: else it may be one that is refused. */
  const isCounted = computed(() => place.answer.value.data?.of.filter === filter.value);
  const fetch = effect(() => {
    renewed.value;
    if (!isCounted.value) return;
    const of = target.value;
    const key = question.value;
    if (of === null || !visible.value || wanted.value === "") return;
    const missing = wanted.value
      .split(",")
      .map(Number)
      .filter((chunk) => !chunks.value.has(chunk));
    if (missing.length === 0) return;
    const stop = new AbortController();
    const ask = async (chunk: number): Promise<void> => {
      try {
        const query = { ...of, filter: filter.peek(), offset: chunk * CHUNK, limit: CHUNK };
        const page = await getEvents(query, stop.signal);
        if (key !== question.peek()) return;
        const next = new Map(chunks.peek()).set(chunk, page.rows);
        for (const old of next.keys()) {
          if (next.size <= KEPT) break;
          next.delete(old);
        }
        batch(() => {
          chunks.value = next;
          failure.value = null;
        });
      } catch (error) {
        if (stop.signal.aborted || wasAborted(error)) return;
        isLost(error);
        failure.value = words(error);
      }
    };
    const callOff = later(() => {
      for (const chunk of missing) void ask(chunk);
    }, 40);
    return () => {
      callOff();
      stop.abort();
    };
  });

  const rowAt = (index: number): EventRow | null =>
    chunks.value.get(Math.floor(index / CHUNK))?.[index % CHUNK] ?? null;
  /** What happened in the cursor's event, once its row is known. */
  const current = computed<EventRow | null>(() => (passes.value ? rowAt(row.value) : null));

  const go = async (index: number): Promise<void> => {
    const wantedRow = Math.min(Math.max(index, 0), count.peek() - 1);
    const of = target.peek();
    if (wantedRow < 0 || of === null) return;
    const ready = chunks.peek().get(Math.floor(wantedRow / CHUNK))?.[wantedRow % CHUNK];
    const turn = ++turns;
    if (ready) {
      going.value = false;
      setEvent(ready.event);
      return;
    }
    const query = { ...of, filter: filter.peek(), offset: wantedRow, limit: 1 };
    const key = question.peek();
    going.value = true;
    const answer = await getEvents(query).catch((error: unknown) => words(error));
    if (turn !== turns) return;
    // An event of another device or recording means nothing here.
    if (key === question.peek()) {
      if (typeof answer === "string") {
        failure.value = answer;
        owed = 0;
      } else if (answer.rows[0]) setEvent(answer.rows[0].event);
    }
    going.value = false;
  };
  /** The next (`by` 1) or an earlier event that passes; a page of them at a time, to the ends. */
  const step = (by: number): void => {
    if (going.peek() || place.answer.peek().loading || known.peek() === null) {
      owed += by;
      return;
    }
    const here = row.peek();
    void go(by > 0 && !passes.peek() ? here + by - 1 : here + by);
  };
  const catchUp = effect(() => {
    if (going.value || place.answer.value.loading || known.value === null || owed === 0) return;
    const by = owed;
    owed = 0;
    queueMicrotask(() => step(by));
  });

  return {
    typed,
    filter,
    top,
    seen,
    count,
    scaling,
    row,
    passes,
    current,
    failure: computed(() => place.answer.value.error ?? failure.value),
    isKnown: computed(() => known.value !== null),
    rowAt,
    go,
    step,
    dispose: () => {
      for (const stop of [forget, follow, fetch, catchUp, place.dispose]) stop();
    },
  };
}

/** Puts the cursor on an event; that of the peak is no event, so that a link stays true. */
export function setEvent(event: number): void {
  cursor.value = event === device.peek()?.peak_event ? null : event;
}
