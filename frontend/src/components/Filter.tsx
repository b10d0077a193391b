/** The box that narrows all views; what is wrong with a filter is said under it. */

import { breakdown } from "../flow/questions";
import { filter } from "../state/view";
import { useTyped } from "./useTyped";

/** `error`: what the answer that it narrows says of the filter; without it the breakdown's. */
export function Filter({ error = breakdown.value.error }: { error?: string | null }) {
  const [text, setText] = useTyped(filter);
  const wrong = filter.value ? error : null;
  return (
    <span class="filter">
      <input
        class="field"
        type="search"
        data-shortcut="/"
        placeholder="Filter, e.g. attention size>10MiB"
        aria-label="Filter allocations"
        aria-invalid={wrong !== null}
        title="Words that must all be there, and comparisons such as size>10MiB or category:gradient (press / to get here, ? for more)"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {wrong && (
        <span class="wrong" role="alert">
          {wrong}
        </span>
      )}
    </span>
  );
}
