/** What the colours mean; the groups are those of the chart of usage, and are picked in the same way. */

import { bytes } from "../../format";
import type { Model } from "../../lives/model";
import { device, filter, isPlan, minimum, only } from "../../state";
import { ink } from "../../theme/theme";
import { gapColour } from "../../timeline/groupColours";
import { Groups } from "../../timeline/Legend";

/** Pixels that the words at the right take. */
const WORDS = 250;
/** And the word for a capacity. */
const CAPACITY = 90;
const NARROW = 640;

export function Legend({ model }: { model: Model }) {
  const width = model.timeline.width.value;
  const isNarrow = width < NARROW;
  const capacity = capacityOf(model);
  const words = WORDS + (capacity === null ? 0 : CAPACITY);
  const layout = model.question.value?.layout ?? "stacked";
  const gap = gapColour(ink.value);
  const isPartial = only.value !== "all" || minimum.value > 0 || filter.value !== "";
  return (
    <div class={`timeline-legend ${isNarrow ? "is-narrow" : ""}`}>
      <Groups model={model.timeline} room={Math.max(isNarrow ? width : width - words, 200)} />
      <div class="timeline-lines quiet allocations-signs">
        {layout === "stacked" ? (
          <>
            <span title="Too small to be drawn one by one at this zoom; hover says how many">
              <i class="timeline-swatch" style={{ background: gap }} /> paler: smaller ones
            </span>
            <span title="All that is allocated: the curve of the Profile view">
              <i class="timeline-dash" /> allocated
            </span>
            {capacity !== null && (
              <span title={`The device has ${bytes(capacity)}`} data-testid="allocations-capacity">
                <i class="timeline-dash is-capacity" /> capacity
              </span>
            )}
          </>
        ) : null}
        {isPlan.value ? (
          <span title="Buffers that are held from the start of the program to its end, such as arguments">
            <i class="timeline-swatch is-lasting" /> held all the time
          </span>
        ) : null}
        {layout === "address" && !isPlan.value ? (
          <span title="Held from the driver at that moment, and not allocated">
            <i class="timeline-swatch" style={{ background: ink.value.track }} /> mapped, free
            {isPartial ? " or not shown" : ""}
          </span>
        ) : null}
      </div>
    </div>
  );
}

/** The capacity, where its line is in the picture; else it would take room from the groups. */
function capacityOf(model: Model): number | null {
  const capacity = device.value?.capacity ?? null;
  const { begin, end } = model.bytes.value;
  const isStacked = (model.question.value?.layout ?? "stacked") === "stacked";
  return isStacked && capacity !== null && begin <= capacity && capacity <= end ? capacity : null;
}
