/** Keeps the list of sources fresh: often while something moves, slowly otherwise, never unseen. */

import { effect } from "@preact/signals";
import { ApiError, getSources, type SourceList, wasAborted } from "../api";
import { lost, sourceList } from "../state/recording";
import { words } from "../state/resource";
import { visible } from "../state/visible";

const BUSY_MS = 1000;
const QUIET_MS = 5000;
const LOST_MS = 3000;
const GONE = "TensorBoard does not answer. Trying again …";

const isBusy = (list: SourceList | null): boolean =>
  list === null ||
  list.scanning ||
  list.sources.some(({ state }) => state === "reading" || state === "queued");

let again: (() => void) | null = null;

/** Asks for the list now rather than at the next turn. */
export const refreshSources = (): void => again?.();

/** Starts the polling; the answer ends it. */
export function pollSources(): () => void {
  let looked = Number.NEGATIVE_INFINITY;
  const stop = effect(() => {
    if (lost.value === null || lost.value === GONE) return;
    // Another question went unanswered; where only that one does it must not be asked all the time.
    const wait = Math.max(0, looked + LOST_MS - performance.now());
    const timer = setTimeout(() => {
      looked = performance.now();
      refreshSources();
    }, wait);
    return () => clearTimeout(timer);
  });
  const end = effect(() => {
    if (!visible.value) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let controller = new AbortController();

    const turn = async (): Promise<void> => {
      clearTimeout(timer);
      controller.abort();
      const mine = new AbortController();
      controller = mine;
      const wait = await ask(mine.signal);
      if (!mine.signal.aborted) timer = setTimeout(turn, wait);
    };

    again = () => void turn();
    void turn();
    return () => {
      again = null;
      clearTimeout(timer);
      controller.abort();
    };
  });
  return () => {
    stop();
    end();
  };
}

/** Asks once and says how long to wait for the next time. */
async function ask(abort: AbortSignal): Promise<number> {
  try {
    const list = await getSources(abort);
    // The same answer must not make the page draw itself anew.
    if (JSON.stringify(list) !== JSON.stringify(sourceList.peek())) sourceList.value = list;
    lost.value = null;
    return isBusy(list) ? BUSY_MS : QUIET_MS;
  } catch (error) {
    if (wasAborted(error)) return QUIET_MS;
    const gone = error instanceof ApiError && error.status === 0;
    lost.value = gone ? GONE : words(error);
    return LOST_MS;
  }
}
