/** What the colours mean; the groups are those of the chart of usage, and are picked in the same way. */

import { filter, minimum, only } from "../../state";
import { ink } from "../../theme/theme";
import { gapColour } from "../../timeline/groupColours";
import { Groups } from "../../timeline/Legend";
import type { Model } from "./model";

/** Pixels that the words at the right take. */
const WORDS = 250;
const NARROW = 640;

export function Legend({ model }: { model: Model }) {
  const width = model.timeline.width.value;
  const isNarrow = width < NARROW;
  const layout = model.question.value?.layout ?? "stacked";
  const gap = gapColour(ink.value);
  const isPartial = only.value !== "all" || minimum.value > 0 || filter.value !== "";
  return (
    <div class={`timeline-legend ${isNarrow ? "is-narrow" : ""}`}>
      <Groups model={model.timeline} room={Math.max(isNarrow ? width : width - WORDS, 200)} />
      <div class="timeline-lines quiet allocations-signs">
        {layout === "stacked" ? (
          <>
            <span title="Too small to be drawn one by one at this zoom; hover says how many">
              <i class="timeline-swatch" style={{ background: gap }} /> paler: smaller ones
            </span>
            <span title="All that is allocated: the curve of the Profile view">
              <i class="timeline-dash" /> allocated
            </span>
          </>
        ) : null}
        {layout === "address" ? (
          <span title="Held from the driver at that moment, and not allocated">
            <i class="timeline-swatch" style={{ background: ink.value.track }} /> mapped, free
            {isPartial ? " or not shown" : ""}
          </span>
        ) : null}
      </div>
    </div>
  );
}
