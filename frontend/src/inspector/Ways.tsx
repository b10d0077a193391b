/** Where to go from an allocation: its life on the chart, the moments around it. */

import type { AllocationCard } from "../api";
import { extent } from "../state/recording";
import { axis, cursor, range } from "../state/view";
import { lifeRange } from "./life";

export function Ways({ card }: { card: AllocationCard }) {
  const everything = extent.value;
  if (!everything) return null;
  const life = lifeRange(card, axis.value, everything);
  const { birth, death } = card;
  return (
    <section aria-label="Go to">
      <h3>Go to</h3>
      <p class="ways">
        {life && <Way text="its life" go={() => (range.value = life)} />}
        {!card.before_window && birth !== null && (
          <>
            <Way text="just before it" go={() => (cursor.value = birth - 1)} />
            <Way text="its birth" go={() => (cursor.value = birth)} />
          </>
        )}
        {death !== null && (
          <>
            <Way text="just before its end" go={() => (cursor.value = death - 1)} />
            <Way text="its end" go={() => (cursor.value = death)} />
          </>
        )}
      </p>
    </section>
  );
}

function Way({ text, go }: { text: string; go: () => void }) {
  return (
    <button type="button" class="chip" onClick={go}>
      {text}
    </button>
  );
}
