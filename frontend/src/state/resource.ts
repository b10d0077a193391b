/** A question that follows the state: asked anew when it changes, called off when it is stale. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { wasAborted } from "../api";
import { isLost, renewed } from "./recording";
import { visible } from "./visible";

export interface Answer<T> {
  /** The last answer; kept while the next is on its way. Null before the first. */
  data: T | null;
  /** Why the last question failed, in words. */
  error: string | null;
  loading: boolean;
}

export interface Resource<T> {
  answer: ReadonlySignal<Answer<T>>;
  dispose: () => void;
}

const NOTHING = { data: null, error: null, loading: false };

/**
 * Asks `load` whenever what `query` returns has changed, if the tab is being looked at.
 * What nobody answered is asked again once the server is back. A null query means there is nothing to ask and drops the answer.
 */
export function resource<Q, T>(
  query: () => Q | null,
  load: (query: Q, abort: AbortSignal) => Promise<T>,
): Resource<T> {
  const answer = signal<Answer<T>>(NOTHING);
  let answered: string | null = null;

  const dispose = effect(() => {
    const asked = query();
    if (asked === null) {
      answered = null;
      answer.value = NOTHING;
      return;
    }
    const key = JSON.stringify(asked);
    renewed.value;
    if (!visible.value) return;
    if (key === answered) {
      // Back at what is answered already, before another answer came.
      if (answer.peek().loading) answer.value = { ...answer.peek(), loading: false };
      return;
    }
    const controller = new AbortController();
    answer.value = { ...answer.peek(), loading: true };
    load(asked, controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        answered = key;
        answer.value = { data, error: null, loading: false };
      },
      (error: unknown) => {
        if (controller.signal.aborted || wasAborted(error)) return;
        answered = isLost(error) ? null : key;
        answer.value = { ...answer.peek(), error: words(error), loading: false };
      },
    );
    return () => controller.abort();
  });
  return { answer, dispose };
}

/** What to tell a person about something that went wrong. */
export const words = (error: unknown): string =>
  error instanceof Error && error.message ? error.message : String(error);
