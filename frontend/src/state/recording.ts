/** What there is to look at: the sources, the one that is open, and what its summary says. */

import { computed, signal } from "@preact/signals";
import { ApiError } from "../api/client";
import type { Device, OpenStatus, Source, SourceList, Summary } from "../api/types";
import { axis, deviceKey, type Window } from "./view";

/** Null until the server first answered. */
export const sourceList = signal<SourceList | null>(null);
export const sourceId = signal<string | null>(null);
/** State of reading the selected source; null before the first answer about it. */
export const openStatus = signal<OpenStatus | null>(null);
/** Set once the selected source is ready. */
export const summary = signal<Summary | null>(null);
/** One sentence, while the server cannot be reached. */
export const lost = signal<string | null>(null);
/** Counted up when the server is back and has the recording open: what failed is asked anew. */
export const renewed = signal(0);

/** Whether `error` is that nobody answered; the polling of sources then looks who is there. */
export function isLost(error: unknown): boolean {
  const gone = error instanceof ApiError && error.status === 0;
  if (gone) lost.value ??= error.message;
  return gone;
}

export const source = computed<Source | null>(
  () => sourceList.value?.sources.find(({ id }) => id === sourceId.value) ?? null,
);

export const device = computed<Device | null>(() => {
  const devices = summary.value?.devices ?? [];
  return devices.find(({ key }) => key === deviceKey.value) ?? devices[0] ?? null;
});

/** Whether the selected device has a history to draw; without one there is only the end state. */
export const hasHistory = computed(() => (device.value?.events ?? 0) > 0);

export const hasTime = computed(
  () => summary.value?.axes.includes("time") === true && device.value?.begin_time !== null,
);

/** Everything the axis has for the selected device; null without a history. */
export const extent = computed<Window | null>(() => {
  const shown = device.value;
  if (!shown || shown.events === 0) return null;
  if (axis.value === "event") return { begin: 0, end: shown.events };
  if (shown.begin_time === null || shown.end_time === null) return null;
  return { begin: shown.begin_time, end: shown.end_time + 1 };
});
