/** Opens the selected source: asks until it is read, then puts its summary into the state. */

import { batch, computed, effect, signal } from "@preact/signals";
import { getOpen, getSummary, type OpenStatus, type Summary, wasAborted } from "../api";
import { isLost, lost, openStatus, renewed, source, sourceId, summary } from "../state/recording";
import { words } from "../state/resource";
import { visible } from "../state/visible";
import { applySummary } from "./choose";
import { refreshSources } from "./sources";

/** Milliseconds from one look at a source that is read to the next, and how long it is that. */
const POLLS = [
  { every: 125, until: 1000 },
  { every: 250, until: 5000 },
] as const;
const SLOW_POLL_MS = 1000;

/** Counted up to look again at a source that may have changed or failed for a passing reason. */
const attempt = signal(0);

/** A file that was written to is looked at again; a list that merely moved is not a reason. */
const modified = computed(() => source.value?.modified_ns ?? null);
const reachable = computed(() => lost.value === null);
let wasLost = false;

/** Looks again at the selected source: its content may have changed. */
export const reopen = (): void => {
  attempt.value += 1;
};

/** Follows the selected source; the answer ends it. */
export function followSource(): () => void {
  return effect(() => {
    const id = sourceId.value;
    modified.value;
    attempt.value;
    if (!reachable.value) wasLost = true;
    if (id === null || !visible.value || !reachable.value) return;
    const controller = new AbortController();
    void open(id, controller.signal);
    return () => controller.abort();
  });
}

async function open(id: string, abort: AbortSignal): Promise<void> {
  const begin = performance.now();
  // What was read before is most likely there still: asked for without waiting to be told so.
  const isKnown = summary.peek() === null && source.peek()?.state === "ready";
  const early = isKnown ? getSummary(id, abort).catch(() => null) : null;
  try {
    for (;;) {
      const status = await getOpen(id, abort);
      if (abort.aborted) return;
      if (status.state === "ready") return await ready(id, status, early, abort);
      openStatus.value = status;
      if (status.state === "error") {
        summary.value = null;
        refreshSources();
        return;
      }
      const gone = performance.now() - begin;
      await pause(POLLS.find(({ until }) => gone < until)?.every ?? SLOW_POLL_MS, abort);
    }
  } catch (error) {
    if (abort.aborted || wasAborted(error)) return;
    // The polling of sources notices when the server is back; this then runs again.
    if (!isLost(error)) openStatus.value = failed(error);
  }
}

async function ready(
  id: string,
  status: OpenStatus,
  early: Promise<Summary | null> | null,
  abort: AbortSignal,
): Promise<void> {
  if (summary.peek()?.version !== status.version || openStatus.peek()?.state !== "ready") {
    const known = await early;
    const fresh = known?.version === status.version ? known : await getSummary(id, abort);
    if (abort.aborted) return;
    batch(() => {
      applySummary(fresh);
      openStatus.value = status;
    });
    refreshSources();
  }
  if (wasLost) renewed.value += 1;
  wasLost = false;
}

const failed = (error: unknown): OpenStatus => ({
  state: "error",
  fraction: 0,
  phase: "",
  error: words(error),
  version: null,
});

const pause = (ms: number, abort: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    abort.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
