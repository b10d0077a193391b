/** In the sidebar, from every view: what else is of the same process, or what a pair is made of. */

import { proposals, showAlone, showTogether } from "../flow/pairs";
import { source, sourceList } from "../state/recording";
import { sourceWord } from "./words";

export function Beside() {
  const here = source.value;
  const sources = sourceList.value?.sources ?? [];
  if (here === null) return null;
  if (here.pair) {
    const { snapshot, trace } = here.pair;
    return (
      <nav aria-label="Two recordings as one">
        <h2 class="heading">Put together of</h2>
        {[snapshot, trace].map((id) => {
          const one = sources.find((each) => each.id === id);
          if (one === undefined) return null;
          return (
            <p class="item small" key={id}>
              <button type="button" class="link" onClick={() => showAlone(id)}>
                {sourceWord(one, here)}
              </button>
            </p>
          );
        })}
      </nav>
    );
  }
  const best = proposals.value?.find(({ match }) => match?.certain);
  if (best === undefined) return null;
  const id = best.snapshot === here.id ? best.trace : best.snapshot;
  const other = sources.find((each) => each.id === id);
  if (other === undefined) return null;
  return (
    <nav aria-label="Of the same process">
      <h2 class="heading">Of the same process</h2>
      <p class="item small">
        <span class="pair-name">{sourceWord(other, here)}</span>{" "}
        <button
          type="button"
          class="link"
          onClick={() => showTogether(best.snapshot, best.trace, null)}
        >
          show together
        </button>
      </p>
    </nav>
  );
}
