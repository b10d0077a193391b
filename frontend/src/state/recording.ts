/** What there is to look at: the sources, the one that is open, and what its summary says. */

import { computed, signal } from "@preact/signals";
import { ApiError } from "../api/client";
import type { Plan } from "../api/plan";
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

/** What the key of a device begins with that is a compiler's plan. */
export const PLAN = "plan:";
/** Whether a plan is looked at: a module's buffers in program order, no device's memory. */
export const isPlan = computed(() => deviceKey.value?.startsWith(PLAN) === true);
/** The plan that was last asked for. */
export const plan = signal<Plan | null>(null);
/** The plan that is looked at, once it is there. */
export const shownPlan = computed<Plan | null>(() =>
  isPlan.value && plan.value?.device.key === deviceKey.value ? plan.value : null,
);

/** What there is to say of what is looked at: of the recording, or of a plan in it. */
export const about = computed<Summary | null>(() => {
  const known = summary.value;
  if (!known || !isPlan.value) return known;
  return {
    ...known,
    basis: "size",
    groupings: shownPlan.value?.groupings ?? [],
    axes: ["event"],
    // Where plans are all there is, what is to be said of the recording is said of each.
    problems: [
      ...(shownPlan.value?.overview.problems ?? []),
      ...(known.devices.length > 0 ? [] : known.problems),
    ],
    missing: known.devices.length > 0 ? [] : known.missing,
  };
});

export const device = computed<Device | null>(() => {
  if (isPlan.value) return shownPlan.value?.device ?? null;
  const devices = summary.value?.devices ?? [];
  return devices.find(({ key }) => key === deviceKey.value) ?? devices[0] ?? null;
});

/** Whether the selected device has a history to draw; without one there is only the end state. */
export const hasHistory = computed(() => (device.value?.events ?? 0) > 0);

export const hasTime = computed(
  () => about.value?.axes.includes("time") === true && device.value?.begin_time !== null,
);

/** Everything the axis has for the selected device; null without a history. */
export const extent = computed<Window | null>(() => {
  const shown = device.value;
  if (!shown || shown.events === 0) return null;
  if (axis.value === "event") return { begin: 0, end: shown.events };
  if (shown.begin_time === null || shown.end_time === null) return null;
  return { begin: shown.begin_time, end: shown.end_time + 1 };
});
