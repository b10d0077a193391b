/** What was weighed, when, and how much it is altogether. */

import type { Weighed } from "../api";
import { hasHistory } from "../state/recording";
import { say } from "../state/say";
import { cursor, range } from "../state/view";
import { exactWeight, heading, MEANINGS, weight } from "./words";

export function Heading({ answer, failed }: { answer: Weighed | null; failed: boolean }) {
  if (!answer) return <h2 class="at">{failed ? "" : "Weighing …"}</h2>;
  const place = { atPeak: cursor.value === null, whole: range.value === null };
  return (
    <div class="weighed-heading">
      <h2 class="at" data-testid="weighed-heading">
        {hasHistory.value ? heading(answer, place) : say("Alive at the end")}
        <span class="quiet" title={exactWeight(answer.total, answer.unit)}>
          {weight(answer.total, answer.unit)}
          {answer.unit === "allocations" ? " allocations" : ""}
        </span>
      </h2>
      {hasHistory.value && (
        <p class="quiet small" data-testid="weighed-meaning">
          {MEANINGS[answer.of].title}.
        </p>
      )}
    </div>
  );
}
