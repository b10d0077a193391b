/** What the picture shows and how: layout, which allocations, search, rulers, the way to the table. */

import { useComputed } from "@preact/signals";
import { Filtered } from "../../components/Filtered";
import { LayoutChoice } from "../../lives/LayoutChoice";
import { shownLayout } from "../../lives/layouts";
import type { Model } from "../../lives/model";
import { SavePlan } from "../../lives/SavePlan";
import { bytesRange, only, range, viewKey } from "../../state";
import { type Layout, ONLY, type Only } from "../../state/view";
import { Find } from "./Find";
import { Minimum } from "./Minimum";

const ONLY_WORDS: Readonly<Record<Only, string>> = {
  all: "all",
  alive: "alive at cursor",
  freed: "freed later",
  never: "never freed",
};

const LAYOUT_WORDS: Readonly<Record<Layout, string>> = {
  stacked: "The youngest on top; what is above a freed one moves down",
  address: "Each where it is in its segment: shows holes",
  lane: "Each at one height for life: nothing moves",
};

export function Tools({ model }: { model: Model }) {
  const isAll = useComputed(() => range.value === null && bytesRange.value === null);
  return (
    <div class="allocations-tools">
      <LayoutChoice />
      <label class="labelled" title={LAYOUT_WORDS[shownLayout.value]}>
        <span class="quiet">show</span>
        <select
          class="field choice"
          aria-label="Which allocations"
          value={only.value}
          onChange={(event) => (only.value = event.currentTarget.value as Only)}
        >
          {ONLY.map((key) => (
            <option key={key} value={key}>
              {ONLY_WORDS[key]}
            </option>
          ))}
        </select>
      </label>
      <Minimum />
      <span class="right">
        <button
          type="button"
          class="chip"
          aria-pressed={model.measures.value}
          title="Drag to measure time and bytes between two points (M); Alt and drag does too"
          onClick={() => (model.measures.value = !model.measures.value)}
        >
          measure
        </button>
        <button
          type="button"
          class="chip"
          title="Stretch what is in view over the whole height"
          onClick={model.fitHeight}
        >
          fit height
        </button>
        <button
          type="button"
          class="chip"
          disabled={isAll.value}
          title="Show everything (0, or double-click)"
          onClick={model.fit}
        >
          fit
        </button>
        <button
          type="button"
          class="chip"
          title="What is alive at the cursor, as a table"
          onClick={() => (viewKey.value = "profile")}
        >
          table
        </button>
        <SavePlan />
      </span>
      <Filtered />
      <Find model={model} />
    </div>
  );
}
