/** What lies over the picture and moves with it: all that is allocated, the cursor, marks, a life. */

import { device, hasHistory } from "../state";
import { ink } from "../theme/theme";
import { lifeOf } from "../timeline/life";
import { Moved } from "../timeline/Moved";
import { ABOVE } from "../timeline/model";
import { paintLife } from "../timeline/paint/life";
import { paintMarks } from "../timeline/paint/marks";
import { crisp, line } from "../timeline/paint/surface";
import { toPixel } from "../timeline/scale";
import { placeMarks, sheetsFor } from "../timeline/scene";
import type { Model } from "./model";
import { paintCapacity, paintTotals } from "./paint/totals";

/** Pixels that the line of the cursor begins above the plot. */
const OVER = 4;

export function Curve({ model }: { model: Model }) {
  const { timeline } = model;
  const { loader, plot, ratio } = timeline;
  return (
    <Moved
      model={timeline}
      frame={() => ({ top: plot.value.top - ABOVE, height: plot.value.height + ABOVE })}
      painter={({ reach, from, width }) => {
        const { height } = plot.value;
        const columns = Math.round(width * ratio.value);
        const place = { left: from, top: ABOVE, width, height, columns };
        const isStacked = (model.question.value?.layout ?? "stacked") === "stacked";
        const sheets = isStacked
          ? sheetsFor(loader.detail.value, loader.whole.value, reach, columns)
          : [];
        const [bytes, paints, axis] = [model.bytes.value, ink.value, timeline.axis.value];
        const cursor = hasHistory.value ? timeline.cursorPlace.value : null;
        const marks = hasHistory.value ? placeMarks(timeline.marks.value, axis, reach, place) : [];
        const capacity = isStacked ? (device.value?.capacity ?? null) : null;
        const life = lifeOf(axis, timeline.whole.value);
        return (surface) => {
          paintTotals(surface, { plot: place, sheets }, bytes, paints);
          if (capacity !== null) paintCapacity(surface, place, capacity, bytes, paints.danger);
          paintMarks(surface, { plot: place, marks }, paints);
          if (life !== null) paintLife(surface, { plot: place, window: reach }, life, paints);
          if (cursor === null) return;
          const x = crisp(surface, from + toPixel(reach, width, cursor));
          const to = ABOVE + height;
          line(surface, [x, ABOVE - OVER], [x, to], paints.cursor, 1.5);
        };
      }}
      testId="allocations-curve"
    />
  );
}
