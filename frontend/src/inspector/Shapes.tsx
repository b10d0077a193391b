/** What an allocation may be, where the source does not say: guesses, and named as such. */

import { getBreakdown } from "../api";
import { target } from "../flow/questions";
import { bytes, count, counted, grouped } from "../format";
import { selection } from "../state";
import { resource } from "../state/resource";
import { multiplesOf, type Recurring, shapesOf } from "./shapes";

/** Sizes looked at. */
const MOST = 100;

/** The sizes alive at the peak, asked for when an allocation is first selected. */
const sizes = resource(
  () => {
    if (target.value === null || selection.value?.kind !== "allocation") return null;
    const asked = { at: "peak", by: "size", pattern: "", filter: "", sort: "-bytes" } as const;
    return { ...target.value, ...asked, limit: MOST };
  },
  async (query, abort): Promise<Recurring[]> => {
    const { groups } = await getBreakdown(query, abort);
    return groups
      .filter(({ bytes: whole, largest, count: number }) => whole === largest * number)
      .map(({ largest, count: number }) => ({ bytes: largest, count: number }));
  },
).answer;

export function Shapes({ size }: { size: number }) {
  const recurring = sizes.value.data;
  if (recurring === null) return null;
  const multiples = multiplesOf(size, recurring);
  const shapes = shapesOf(size, recurring);
  if (multiples.length + shapes.length === 0) return null;
  return (
    <section aria-label="Possible shapes">
      <h3 title="Guessed from the sizes that recur at the peak; the recording does not say">
        It may be
      </h3>
      <ul class="guesses">
        {shapes.map(({ dimensions, width }) => (
          <li key={dimensions.join()}>
            {dimensions.map(grouped).join(" × ")}{" "}
            <span class="quiet">elements of {counted(width, "byte")}</span>
          </li>
        ))}
        {multiples.map(({ times, of }) => (
          <li key={of.bytes}>
            {count(times)} × {bytes(of.bytes)}{" "}
            <span class="quiet">a size that is there {counted(of.count, "time")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
