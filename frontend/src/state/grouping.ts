/** What a grouping is asked with beside its name: a pattern that was typed, or a moment. */

import { computed } from "@preact/signals";
import { by, cursor, pattern } from "./view";

/** Empty for most; by age it is the cursor's event, `peak` while that has not been moved. */
export const argument = computed<string>(() => {
  if (by.value === "age") return String(cursor.value ?? "peak");
  return by.value === "pattern" ? pattern.value : "";
});
