/** Says that a view is narrowed by the filter that all views share, and takes it away. */

import { filter } from "../state/view";

export function Filtered() {
  if (filter.value === "") return null;
  return (
    <p class="filtered" data-testid="filtered">
      <span class="quiet">filtered by</span>
      <code class="clip" title={filter.value}>
        {filter.value}
      </code>
      <button
        type="button"
        class="plain"
        aria-label="Take the filter away"
        title="Take the filter away, in all views"
        onClick={() => (filter.value = "")}
      >
        ×
      </button>
    </p>
  );
}
