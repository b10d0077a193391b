/** The head of a column that a table can be sorted by. */

import type { Signal } from "@preact/signals";
import { ariaSort, nextSort } from "./sorting";

interface SortHeaderProperties {
  column: string;
  text: string;
  title?: string | undefined;
  /** Whether what is smallest, such as a name with A, comes first to begin with. */
  rises?: boolean;
  isText?: boolean;
  sort: Signal<string>;
}

/** The head of a column; a click sorts by it. */
export function SortHeader({
  column,
  text,
  title,
  isText = false,
  rises = isText,
  sort,
}: SortHeaderProperties) {
  const direction = ariaSort(sort.value, column);
  return (
    <th scope="col" class={isText ? "" : "number"} aria-sort={direction} title={title}>
      <button
        type="button"
        class="plain"
        onClick={() => (sort.value = nextSort(sort.value, column, rises))}
      >
        {text}
        <span class="arrow" aria-hidden="true">
          {{ ascending: "▴", descending: "▾", none: "" }[direction]}
        </span>
      </button>
    </th>
  );
}
