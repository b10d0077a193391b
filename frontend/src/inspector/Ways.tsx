/** Where to go from an allocation: its life on the chart, the moments around it. */

import { batch } from "@preact/signals";
import type { AllocationCard } from "../api";
import { extent } from "../state/recording";
import { axis, cursor, range } from "../state/view";
import { around, lifeRange } from "./life";

export function Ways({ card }: { card: AllocationCard }) {
  const everything = extent.value;
  if (!everything) return null;
  const life = lifeRange(card, axis.value, everything);
  const { birth, death } = card;
  const [born, died] = axis.value === "event" ? [birth, death] : [card.birth_time, card.death_time];
  const jump = (event: number, place: number | null): void =>
    batch(() => {
      cursor.value = event;
      // What one jumps to should be in view.
      if (range.value && place !== null) range.value = around(range.value, place, everything);
    });
  return (
    <section aria-label="Go to">
      <h3>Go to</h3>
      <p class="ways">
        {life && <Way text="its life" go={() => (range.value = life)} />}
        {!card.before_window && birth !== null && (
          <>
            <Way text="just before it" go={() => jump(birth - 1, born)} />
            <Way text="its birth" go={() => jump(birth, born)} />
          </>
        )}
        {death !== null && (
          <>
            <Way text="just before its end" go={() => jump(death - 1, died)} />
            <Way text="its end" go={() => jump(death, died)} />
          </>
        )}
      </p>
    </section>
  );
}

export function Way({ text, go }: { text: string; go: () => void }) {
  return (
    <button type="button" class="chip" onClick={go}>
      {text}
    </button>
  );
}
