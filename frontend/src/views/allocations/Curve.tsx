/** All that is allocated as a line, and the cursor: drawn for as much as the picture, and moved with it. */

import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { hasHistory } from "../../state";
import { ink } from "../../theme/theme";
import { crisp, line } from "../profile/timeline/paint/surface";
import { toPixel } from "../profile/timeline/scale";
import { sheetsFor } from "../profile/timeline/scene";
import { usePaint } from "../profile/timeline/usePaint";
import type { Model } from "./model";
import { paintTotals } from "./paint/totals";

/** Pixels that the line of the cursor begins above the plot. */
const OVER = 4;

export function Curve({ model }: { model: Model }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { loader, plot, ratio, window } = model.timeline;
  const { reach } = model.pictures;
  const wide = useComputed(() => Math.round(plot.value.width * reach.value.times));
  usePaint(canvas, () => {
    const { height } = plot.value;
    if (wide.value <= 0) return null;
    const range = reach.value;
    const columns = Math.round(wide.value * ratio.value);
    const place = { left: 0, top: OVER, width: wide.value, height, columns };
    const isStacked = (model.question.value?.layout ?? "stacked") === "stacked";
    const sheets = isStacked
      ? sheetsFor(loader.detail.value, loader.whole.value, range, columns)
      : [];
    const [bytes, paints] = [model.bytes.value, ink.value];
    const cursor = hasHistory.value ? model.timeline.cursorPlace.value : null;
    return {
      width: wide.value,
      height: height + OVER,
      paint: (surface) => {
        paintTotals(surface, { plot: place, sheets }, bytes, paints);
        if (cursor === null) return;
        const x = crisp(surface, toPixel(range, wide.value, cursor));
        line(surface, [x, 0], [x, height + OVER], paints.cursor, 1.5);
      },
    };
  });
  const frame = useComputed(() => {
    const { left, top, width, height } = plot.value;
    return `left: ${left}px; top: ${top - OVER}px; width: ${width}px; height: ${height + OVER}px`;
  });
  const style = useComputed(() => {
    const x = toPixel(window.value, plot.value.width, reach.value.begin);
    const tall = plot.value.height + OVER;
    return `width: ${wide.value}px; height: ${tall}px; transform: translateX(${x}px)`;
  });
  return (
    <div class="allocations-layers allocations-curve" style={frame}>
      <canvas
        ref={canvas}
        class="allocations-layer"
        style={style}
        data-testid="allocations-curve"
      />
    </div>
  );
}
