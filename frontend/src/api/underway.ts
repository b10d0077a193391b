/** How much is under way that what is shown depends on: answers, drawings, pauses before asking. */

import { type ReadonlySignal, signal } from "@preact/signals";

const count = signal(0);

/** Things under way; at 0 the page shows what was asked for. Polling does not count. */
export const underway: ReadonlySignal<number> = count;

// Effects call these: they must not follow what they only count.
const add = (more: number): void => {
  count.value = count.peek() + more;
};

/** Counts `work` until it has come to its end, good or bad. */
export async function during<Value>(work: Promise<Value>): Promise<Value> {
  add(1);
  try {
    return await work;
  } finally {
    add(-1);
  }
}

/** Does `run` after a pause that counts; the answer calls it off. */
export function later(run: () => void, ms: number): () => void {
  let isOver = false;
  const end = (): void => {
    if (!isOver) add(-1);
    isOver = true;
  };
  add(1);
  const timer = setTimeout(() => {
    run();
    end();
  }, ms);
  return () => {
    clearTimeout(timer);
    end();
  };
}
