/** What an allocation may be, where the source does not say: guesses, and named as such. */

import type { Guesses } from "../api";
import { bytes, count, counted, exactBytes, grouped } from "../format";

export function Shapes({ guesses: { shapes, multiples } }: { guesses: Guesses }) {
  if (multiples.length + shapes.length === 0) return null;
  return (
    <section aria-label="Possible shapes">
      <h3 title="Guessed from the sizes that recur in the recording, which does not say">
        It may be
      </h3>
      <ul class="guesses">
        {shapes.map(({ dimensions, width }) => (
          <li key={[width, ...dimensions].join()}>
            {dimensions.map(grouped).join(" × ")}{" "}
            <span class="quiet">elements of {counted(width, "byte")}</span>
          </li>
        ))}
        {multiples.map(({ times, bytes: each, count: number }) => (
          <li key={each}>
            {count(times)} × <span title={exactBytes(each)}>{bytes(each)}</span>{" "}
            <span class="quiet">a size that is there {counted(number, "time")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
