/** The questions that follow the state and that more than one panel shows the answer of. */

import { computed, signal } from "@preact/signals";
import {
  type BreakdownQuery,
  getAllocation,
  getBreakdown,
  getPlanBuffer,
  getSpan,
  type Target,
} from "../api";
import { argument } from "../state/grouping";
import { device, isPlan, sourceId, summary } from "../state/recording";
import { resource } from "../state/resource";
import { by, cursor, filter, selection, sort } from "../state/view";

/** What every question about the shown device begins with; null while there is none. */
export const target = computed<Target | null>(() => {
  const [source, known, shown] = [sourceId.value, summary.value, device.value];
  return source && known && shown ? { source, version: known.version, device: shown.key } : null;
});

export const FIRST_GROUPS = 40;
/** How many groups the breakdown asks for; grows when the reader wants more. */
export const groupLimit = signal(FIRST_GROUPS);

export const breakdownQuery = computed<BreakdownQuery | null>(() => {
  if (!target.value) return null;
  return {
    ...target.value,
    at: cursor.value ?? "peak",
    by: by.value,
    pattern: argument.value,
    filter: filter.value,
    sort: sort.value,
    limit: groupLimit.value,
  };
});

/** How many tables of groups are on the page. */
export const tables = signal(0);
const isWatched = computed(() => tables.value > 0 || selection.value?.kind === "group");

/** Groups alive at the cursor; not asked for where nobody sees them. */
export const breakdown = resource(
  () => (isWatched.value ? breakdownQuery.value : null),
  getBreakdown,
).answer;

/** Everything about the selected allocation. */
export const card = resource(
  () => {
    const chosen = selection.value;
    if (chosen?.kind !== "allocation" || !target.value) return null;
    const { source, version, device: key } = target.value;
    const device = isPlan.value ? key : "";
    const grouping = { by: by.value, pattern: argument.value, device };
    return { source, version, id: chosen.id, grouping };
  },
  ({ source, version, id, grouping }, abort) => getAllocation(source, version, id, abort, grouping),
).answer;

/** What a plan knows of the selected buffer. */
export const planBuffer = resource(() => {
  const chosen = selection.value;
  if (chosen?.kind !== "allocation" || !target.value || !isPlan.value) return null;
  return { ...target.value, id: chosen.id };
}, getPlanBuffer).answer;

/** Key of the group of the grouping shown that has the selected allocation; null without one. */
export const groupOfSelected = computed<string | null>(() => {
  const [chosen, known] = [selection.value, card.value.data];
  if (chosen?.kind !== "allocation" || String(known?.id) !== chosen.id) return null;
  return known?.group?.by === by.value ? known.group.key : null;
});

/** What memory did during the selected step or annotation. */
export const spanCard = resource(() => {
  const chosen = selection.value;
  return chosen?.kind === "span" && target.value ? { ...target.value, id: chosen.id } : null;
}, getSpan).answer;
