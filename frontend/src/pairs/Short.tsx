/** On narrow pages, where the list is folded away: the other recording of the same process, if sure. */

import { proposals, showTogether } from "../flow/pairs";
import { source, sourceList } from "../state/recording";
import { sourceWord } from "./words";

export function Short() {
  const here = source.value;
  const best = proposals.value?.find(({ match }) => match?.certain);
  if (here === null || here.pair || best === undefined) return null;
  const isSnapshot = best.snapshot === here.id;
  const id = isSnapshot ? best.trace : best.snapshot;
  const other = sourceList.value?.sources.find((each) => each.id === id);
  if (other === undefined) return null;
  return (
    <button
      type="button"
      class="link pair-short"
      title={`${sourceWord(other, here)} is of the same process: show both together`}
      onClick={() => showTogether(best.snapshot, best.trace, null)}
    >
      {isSnapshot ? "show with its trace" : "show with its snapshot"}
    </button>
  );
}
