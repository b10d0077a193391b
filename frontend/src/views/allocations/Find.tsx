/** The search box: hits stand out in the picture, their number and bytes are said beside it. */

import { useEffect, useMemo } from "preact/hooks";
import { useTyped } from "../../components/useTyped";
import { bytes, counted, exactBytes } from "../../format";
import type { Model } from "../../lives/model";
import { find } from "../../state";
import { createSearch } from "./search";

export function Find({ model }: { model: Model }) {
  const search = useMemo(() => createSearch(model), [model]);
  useEffect(() => search.dispose, [search]);
  const [text, setText] = useTyped(find);
  const { data, error } = search.answer.value;
  const wrong = find.value ? error : null;
  const all = model.pictures.front.value?.tiles[0]?.about.hits ?? null;
  return (
    <span class="filter allocations-find">
      <input
        class="field"
        type="search"
        data-shortcut="/"
        placeholder="Find, e.g. conv2d or category:gradient size>10MiB"
        aria-label="Find allocations"
        aria-invalid={wrong !== null}
        title="Stack frame, op, name, module, address, or comparisons such as size>10MiB, step:3, category:gradient (press / to get here, ? for more)"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {wrong !== null && (
        <span class="wrong" role="alert">
          {wrong}
        </span>
      )}
      {wrong === null && find.value !== "" && all !== null && (
        <span class="quiet small" role="status" data-testid="allocations-hits">
          <span title={exactBytes(all.bytes)}>
            {counted(all.count, "hit")}, {bytes(all.bytes)}
          </span>
          {data && (
            <span title={exactBytes(data.total_bytes)}>
              {"; "}
              {counted(data.total_count, "hit")}, {bytes(data.total_bytes)} alive at the cursor
            </span>
          )}
        </span>
      )}
    </span>
  );
}
