/** One thing that follows the window: its last answer, whether a newer one is under way, what failed. */

import { batch, effect, type ReadonlySignal, signal } from "@preact/signals";
import { later, wasAborted } from "../api";
import { isLost, renewed, visible } from "../state";
import { covers, type Tile, tileFor } from "./grid";
import type { Recent } from "./recent";
import type { Range } from "./scale";

/** Wait this long for a gesture to settle before asking, in ms. */
const SETTLE = 70;

export interface Kept<Answer> {
  readonly question: string;
  readonly tile: Tile;
  readonly answer: Answer;
}

export interface Context<Asked> {
  readonly whole: ReadonlySignal<Range>;
  /** Pixels the window fills. */
  readonly width: ReadonlySignal<number>;
  /** All of a question but the window; null while there is none. */
  readonly question: ReadonlySignal<Asked | null>;
  /** Counted up to ask again what failed. */
  readonly attempt: ReadonlySignal<number>;
  /** While this is true nothing is asked: something else is wanted first. */
  readonly isHeld?: ReadonlySignal<boolean>;
}

type Ask<Asked, Answer> = (tile: Tile, question: Asked, abort: AbortSignal) => Promise<Answer>;

/** Keeps an answer about `window` up to date from `watch()` on; while it `waits` others' answers serve. */
export function slot<Asked, Answer>(
  context: Context<Asked>,
  window: ReadonlySignal<Range>,
  ask: Ask<Asked, Answer>,
  recent: Recent<Kept<Answer>>,
  waits: () => boolean = () => false,
) {
  const value = signal<Answer | null>(null);
  const loading = signal(false);
  /** Its own: that one of them came is no word about another. */
  const failure = signal<string | null>(null);

  const fetchTile = async (tile: Tile, now: Asked, key: string, abort: AbortSignal) => {
    try {
      const answer = await ask(tile, now, abort);
      recent.set(`${key} ${tile.begin} ${tile.end} ${tile.bin}`, { question: key, tile, answer });
      if (abort.aborted) return;
      batch(() => {
        value.value = answer;
        loading.value = false;
        failure.value = null;
      });
    } catch (error) {
      if (abort.aborted || wasAborted(error)) return;
      isLost(error);
      batch(() => {
        loading.value = false;
        failure.value = error instanceof Error ? error.message : String(error);
      });
    }
  };

  const watch = () =>
    effect(() => {
      const now = context.question.value;
      const width = context.width.value;
      context.attempt.value;
      renewed.value;
      if (now === null || width <= 0 || !visible.value || context.isHeld?.value) return;
      const range = window.value;
      const all = context.whole.value;
      const key = JSON.stringify(now);
      const fits = (kept: Kept<Answer>) =>
        kept.question === key && covers(kept.tile, range, all, width);
      const isWaiting = waits();
      const kept = recent.find(fits);
      if (kept !== undefined) {
        value.value = kept.answer;
        loading.value = false;
        failure.value = null;
        return;
      }
      if (isWaiting) return;
      const stop = new AbortController();
      loading.value = true;
      const start = () => {
        if (!stop.signal.aborted) void fetchTile(tileFor(range, all, width), now, key, stop.signal);
      };
      // The first question waits for nothing but the rest of what changes in the same breath.
      const callOff = value.peek() === null ? void queueMicrotask(start) : later(start, SETTLE);
      return () => {
        callOff?.();
        stop.abort();
      };
    });
  return { value, loading, failure, watch };
}
