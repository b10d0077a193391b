/** The question about stacks that follows the shared state: what is weighed, when, which of it. */

import { computed } from "@preact/signals";
import type { PickedQuery, WeighQuery } from "../api";
import { target } from "../flow/questions";
import { argument } from "../state/grouping";
import { axis, by, cursor, filter, of, range } from "../state/view";
import { pickedGroup } from "../timeline/groupColours";
import { TOP } from "../timeline/load";

export const weighQuery = computed<WeighQuery | null>(() => {
  const asked = target.value;
  if (!asked) return null;
  // Only what matters is asked for, so that moving the cursor leaves the graph of a window alone.
  const isMoment = of.value === "alive";
  const window = isMoment ? null : range.value;
  return {
    ...asked,
    of: of.value,
    at: isMoment ? (cursor.value ?? "peak") : null,
    axis: window ? axis.value : null,
    begin: window?.begin ?? null,
    end: window?.end ?? null,
    filter: filter.value,
  };
});

/** What is asked of groups: nothing while none is picked, unless all are wanted `anyway`. */
export function pickedQuery(anyway = false): PickedQuery {
  const group = pickedGroup.value;
  if (group === null && !anyway) return {};
  return { by: by.value, pattern: argument.value, top: TOP, group };
}
