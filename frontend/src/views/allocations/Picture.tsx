/** The picture: its layers, axes over them, what follows the pointer, and words for all of it. */

import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { hasHistory } from "../../state";
import { ink } from "../../theme/theme";
import { paintAxisName, paintPlaceAxis } from "../profile/timeline/paint/axes";
import { paintMarks } from "../profile/timeline/paint/marks";
import { usePaint } from "../profile/timeline/usePaint";
import { describe } from "./describe";
import { listen } from "./gestures";
import { Layer } from "./Layer";
import { lifeOf } from "./life";
import type { Model } from "./model";
import { paintBytes, paintStretches } from "./paint/bytes";
import { paintLife } from "./paint/life";
import { paintPointer } from "./paint/pointer";
import { paintTotals } from "./paint/totals";
import { acrossWords, upWords } from "./ruler";
import { Tooltip } from "./Tooltip";

export function Picture({ model }: { model: Model }) {
  const frame = useRef<HTMLDivElement>(null);
  const axes = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const { plot } = model.timeline;
  useEffect(() => (frame.current === null ? undefined : listen(frame.current, model)), [model]);
  usePaint(axes, () => axesOf(model));
  usePaint(overlay, () => overlayOf(model));
  const words = useComputed(() => describe(model));
  const measured = useComputed(() => {
    const ruler = model.ruler.value;
    return ruler === null
      ? ""
      : `${acrossWords(ruler, model.timeline.axis.value)}, ${upWords(ruler)}`;
  });
  const place = useComputed(() => {
    const { left, top, width, height } = plot.value;
    return `left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px`;
  });
  return (
    <div
      class={`timeline-chart allocations-picture ${model.measures.value ? "is-measuring" : ""}`}
      ref={frame}
      role="group"
      aria-label="Allocations"
      aria-describedby="allocations-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys zoom, pan and move the cursor here
      tabIndex={0}
      data-testid="allocations-picture"
    >
      <div class="allocations-layers" style={place}>
        <Layer model={model} picture={model.pictures.base} name="allocations-base" />
        <Layer model={model} picture={model.pictures.front} name="allocations-front" />
      </div>
      <canvas ref={axes} role="img" aria-label={words} data-testid="allocations-axes" />
      <canvas ref={overlay} class="timeline-overlay" data-testid="allocations-overlay" />
      <p class="unseen" id="allocations-keys">
        W and S zoom in time, plus and minus in bytes; A and D pan, up and down arrows move up and
        down, left and right arrows move the cursor, 0 shows everything, M measures. Drag to zoom
        in. The table of the Profile view lists what is alive at the cursor.
      </p>
      <p class="unseen" aria-live="polite" data-testid="allocations-ruler">
        {measured}
      </p>
      <Tooltip model={model} />
    </div>
  );
}

function axesOf(model: Model) {
  const { timeline } = model;
  const scene = timeline.scene.value;
  if (scene === null) return null;
  const paints = ink.value;
  const bytes = model.bytes.value;
  const picture = model.pictures.front.value;
  const layout = model.question.value?.layout ?? "stacked";
  const isOverTime = hasHistory.value;
  const stretches = picture?.tiles[0]?.about.segments ?? [];
  return {
    width: timeline.width.value,
    height: timeline.height.value,
    paint: (surface: Parameters<typeof paintMarks>[0]) => {
      if (layout === "address") paintStretches(surface, scene.plot, bytes, stretches, paints);
      else paintBytes(surface, scene.plot, bytes, paints);
      if (layout === "stacked") paintTotals(surface, scene, bytes, paints);
      if (!isOverTime) return;
      paintMarks(surface, scene, paints);
      paintPlaceAxis(surface, scene, paints);
      paintAxisName(surface, scene, paints);
    },
  };
}

function overlayOf(model: Model) {
  const { timeline } = model;
  const scene = timeline.scene.value;
  if (scene === null) return null;
  const paints = ink.value;
  const bytes = model.bytes.value;
  const life = lifeOf(timeline.axis.value, timeline.whole.value);
  const pointer = model.pointer.value;
  const following = {
    axis: timeline.axis.value,
    cursor: hasHistory.value ? timeline.cursorPlace.value : null,
    pointer: pointer !== null && pointer.y <= scene.plot.height ? pointer : null,
    brush: model.brush.value,
    ruler: model.ruler.value,
  };
  return {
    width: timeline.width.value,
    height: timeline.height.value,
    paint: (surface: Parameters<typeof paintMarks>[0]) => {
      if (life !== null) paintLife(surface, scene, life, paints);
      paintPointer(surface, scene, bytes, following, paints);
    },
  };
}
