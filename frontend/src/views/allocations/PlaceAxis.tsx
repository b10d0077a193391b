/** The axis under the picture, on a canvas of its own: a narrow one, since a pan paints it every frame. */

import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { hasHistory } from "../../state";
import { ink } from "../../theme/theme";
import { BELOW } from "../profile/timeline/model";
import { paintPlaceAxis } from "../profile/timeline/paint/axes";
import { usePaint } from "../profile/timeline/usePaint";
import type { Model } from "./model";

export function PlaceAxis({ model }: { model: Model }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { plot, width, axis, window } = model.timeline;
  usePaint(canvas, () => {
    const place = { ...plot.value, top: 0, height: 0 };
    const scene = { axis: axis.value, window: window.value, plot: place };
    const paints = ink.value;
    const isOverTime = hasHistory.value && place.width > 0;
    return {
      width: width.value,
      height: BELOW,
      paint: isOverTime ? (surface) => paintPlaceAxis(surface, scene, paints) : null,
    };
  });
  const style = useComputed(
    () => `top: ${plot.value.top + plot.value.height}px; height: ${BELOW}px`,
  );
  return (
    <canvas ref={canvas} class="timeline-overlay" style={style} data-testid="allocations-place" />
  );
}
