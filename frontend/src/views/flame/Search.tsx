/** The box that marks instead of leaving out, and how much it found. */

import { useTyped } from "../../components/useTyped";
import { counted, share } from "../../format";
import { find } from "../../state/view";
import { weight } from "../../weighing/words";
import type { Model } from "./model";

export function Search({ model }: { model: Model }) {
  const [text, setText] = useTyped(find);
  return (
    <span class="flame-search">
      <input
        class="field"
        type="search"
        placeholder="Search, e.g. softmax"
        aria-label="Search the graph"
        title="Marks what is found and leaves the rest in sight: words of a frame, or what the filter takes, such as category:gradient"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Found model={model} />
    </span>
  );
}

function Found({ model }: { model: Model }) {
  const graph = model.shown.value?.graph;
  if (!find.value || !graph?.found) return null;
  const { found, unit, total } = graph;
  const words = [`${weight(found.value, unit)} (${share(found.value, total)})`];
  if (unit !== "allocations") words.push(`in ${counted(found.count, "allocation")}`);
  return (
    <output class="quiet" data-testid="flame-found">
      {found.count === 0 ? "nothing found" : `found ${words.join(" ")}`}
    </output>
  );
}
