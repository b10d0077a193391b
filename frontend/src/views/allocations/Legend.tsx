/** What the colours mean; the groups are those of the chart of usage, and are picked in the same way. */

import { bytes } from "../../format";
import { device, filter, minimum, only } from "../../state";
import { ink } from "../../theme/theme";
import { gapColour } from "../../timeline/groupColours";
import { Groups } from "../../timeline/Legend";
import type { Model } from "./model";

/** Pixels that the words at the right take. */
const WORDS = 250;
/** And those of a capacity. */
const CAPACITY = 180;
const NARROW = 640;

export function Legend({ model }: { model: Model }) {
  const width = model.timeline.width.value;
  const isNarrow = width < NARROW;
  const words = WORDS + (device.value?.capacity ? CAPACITY : 0);
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
            <Capacity model={model} />
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

/** The line of the capacity, where that is known; in words where it is out of the picture. */
function Capacity({ model }: { model: Model }) {
  const capacity = device.value?.capacity ?? null;
  if (capacity === null) return null;
  const { begin, end } = model.bytes.value;
  const isSeen = begin <= capacity && capacity <= end;
  return (
    <span title={`The device has ${bytes(capacity)}`} data-testid="allocations-capacity">
      <i class="timeline-dash is-capacity" />
      {isSeen ? "capacity" : `capacity ${bytes(capacity)}, ${capacity > end ? "above" : "below"}`}
    </span>
  );
}
