/** The axis under the picture, drawn for as much as the picture, and moved with it. */

import { hasHistory } from "../state";
import { ink } from "../theme/theme";
import { Moved } from "../timeline/Moved";
import { BELOW } from "../timeline/model";
import { paintPlaceAxis } from "../timeline/paint/axes";
import type { Model } from "./model";

/** Pixels beside the plot that labels of its edges stand on. */
const BESIDE = 16;

export function PlaceAxis({ model: { timeline } }: { model: Model }) {
  return (
    <Moved
      model={timeline}
      frame={() => ({ top: timeline.plot.value.top + timeline.plot.value.height, height: BELOW })}
      beside={BESIDE}
      painter={({ reach, from, width, seen }) => {
        const plot = { left: from, top: 0, width, height: 0, columns: width };
        const scene = { axis: timeline.axis.value, window: reach, plot };
        const paints = ink.value;
        if (!hasHistory.value) return null;
        return (surface) => paintPlaceAxis(surface, scene, paints, seen);
      }}
      testId="allocations-place"
    />
  );
}
