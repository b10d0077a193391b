/** The picture: its layers, axes over them, what follows the pointer, and words for all of it. */

import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { hasHistory } from "../../state";
import { ink } from "../../theme/theme";
import { paintAxisName } from "../profile/timeline/paint/axes";
import { paintMarks } from "../profile/timeline/paint/marks";
import type { Surface } from "../profile/timeline/paint/surface";
import { placeMarks } from "../profile/timeline/scene";
import { usePaint } from "../profile/timeline/usePaint";
import { Curve } from "./Curve";
import { describe } from "./describe";
import { listen } from "./gestures";
import { Layer } from "./Layer";
import { lifeOf } from "./life";
import type { Model } from "./model";
import { PlaceAxis } from "./PlaceAxis";
import { paintBytes, paintStretches } from "./paint/bytes";
import { paintLife } from "./paint/life";
import { paintPointer } from "./paint/pointer";
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
      <Curve model={model} />
      <PlaceAxis model={model} />
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

/** Everything that stays where it is while the picture is panned along the axis. */
function axesOf(model: Model) {
  const { timeline } = model;
  const plot = timeline.plot.value;
  if (plot.width <= 0) return null;
  const paints = ink.value;
  const bytes = model.bytes.value;
  const layout = model.question.value?.layout ?? "stacked";
  const stretches = layout === "address" ? model.stretches.value : [];
  const axis = hasHistory.value ? timeline.axis.value : null;
  return {
    width: timeline.width.value,
    height: timeline.height.value,
    paint: (surface: Surface) => {
      if (layout === "address") paintStretches(surface, plot, bytes, stretches, paints);
      else paintBytes(surface, plot, bytes, paints);
      if (axis !== null) paintAxisName(surface, { axis, plot }, paints);
    },
  };
}

/** What follows the pointer, and what has a place of its own above the plot; empty as a rule. */
function overlayOf(model: Model) {
  const { timeline } = model;
  const plot = timeline.plot.value;
  if (plot.width <= 0) return null;
  const paints = ink.value;
  const bytes = model.bytes.value;
  const [axis, window] = [timeline.axis.value, timeline.window.value];
  const life = lifeOf(axis, timeline.whole.value);
  const marks = hasHistory.value ? placeMarks(timeline.marks.value, axis, window, plot) : [];
  const at = model.pointer.value;
  const pointer = at !== null && at.y <= plot.height ? at : null;
  const [brush, ruler] = [model.brush.value, model.ruler.value];
  const isEmpty =
    life === null && marks.length === 0 && pointer === null && brush === null && ruler === null;
  return {
    width: timeline.width.value,
    height: timeline.height.value,
    paint: isEmpty
      ? null
      : (surface: Surface) => {
          paintMarks(surface, { plot, marks }, paints);
          if (life !== null) paintLife(surface, { plot, window }, life, paints);
          paintPointer(surface, { plot, window }, bytes, { axis, pointer, brush, ruler }, paints);
        },
  };
}
