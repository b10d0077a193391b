/** The box that narrows all views; what is wrong with a filter is said under it. */

import { breakdown } from "../flow/questions";
import { filter } from "../state/view";
import { SearchField } from "./SearchField";

/** `error`: what the answer that it narrows says of the filter; without it the breakdown's. */
export function Filter({ error = breakdown.value.error }: { error?: string | null }) {
  return (
    <SearchField
      value={filter}
      label="Filter allocations"
      placeholder="Filter, e.g. attention size>10MiB"
      title="Words that must all be there, and comparisons such as size>10MiB or category:gradient (press / to get here, ? for more)"
      error={filter.value ? error : null}
    />
  );
}
