/** Where the selected span is drawn, once that is known. */

import { computed } from "@preact/signals";
import type { TraceSpan } from "../../api";
import { spanCard } from "../../flow/questions";
import { selection } from "../../state";

export const chosenSpan = computed<TraceSpan | null>(() => {
  const [chosen, known] = [selection.value, spanCard.value.data];
  return chosen?.kind === "span" && known?.id === chosen.id ? known.place : null;
});
