/** The box that narrows the breakdown; what is wrong with a filter is said under it. */

import { breakdown } from "../flow/questions";
import { filter } from "../state/view";
import { useTyped } from "./useTyped";

export function Filter() {
  const [text, setText] = useTyped(filter);
  const wrong = filter.value ? breakdown.value.error : null;
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
