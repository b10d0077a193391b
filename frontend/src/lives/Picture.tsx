/** The picture: its layers, axes over them, what follows the pointer, and words for all of it. */

import { type ReadonlySignal, useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Layer } from "../picture/Layer";
import { paintBytes, paintStretches } from "../picture/paint/bytes";
import { hasHistory, isPlan } from "../state";
import { ink } from "../theme/theme";
import { lifeOf, pointedRange } from "../timeline/life";
import { paintAxisName } from "../timeline/paint/axes";
import { type Beyond, beyondOf, paintBeyond, paintLife } from "../timeline/paint/life";
import type { Surface } from "../timeline/paint/surface";
import { usePaint } from "../timeline/usePaint";
import { Curve } from "./Curve";
import { describe } from "./describe";
import { listen } from "./gestures";
import type { Model } from "./model";
import { PlaceAxis } from "./PlaceAxis";
import { paintPointer } from "./paint/pointer";
import { acrossWords, upWords } from "./ruler";
import { Tooltip } from "./Tooltip";

export function Picture({ model }: { model: Model }) {
  const frame = useRef<HTMLDivElement>(null);
  const axes = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const { plot } = model.timeline;
  useEffect(() => (frame.current === null ? undefined : listen(frame.current, model)), [model]);
  usePaint(axes, () => axesOf(model), true);
  const beyond = useBeyond(model);
  usePaint(overlay, () => overlayOf(model, beyond.value));
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
      if (axis !== null)
        paintAxisName(surface, { axis, plot }, paints, isPlan.value ? "order" : "event");
    },
  };
}

/** What follows the pointer, and what stays at the edges: empty as a rule, and while it is panned. */
function overlayOf(model: Model, beyond: Beyond | null) {
  const { timeline } = model;
  const plot = timeline.plot.value;
  if (plot.width <= 0) return null;
  const paints = ink.value;
  const at = model.pointer.value;
  const pointer = at !== null && at.y <= plot.height ? at : null;
  const [brush, ruler] = [model.brush.value, model.ruler.value];
  const isFollowing = pointer !== null || brush !== null || ruler !== null;
  const size = { width: timeline.width.value, height: timeline.height.value };
  if (!isFollowing && beyond === null) return { ...size, paint: null };
  // Read only here: a pan that has none of these paints nothing.
  const scene = isFollowing ? { plot, window: timeline.window.value } : null;
  const life = isFollowing ? pointedRange(timeline.whole.value) : null;
  const [bytes, axis] = [model.bytes.value, timeline.axis.value];
  return {
    ...size,
    paint: (surface: Surface) => {
      if (beyond !== null) paintBeyond(surface, plot, beyond, paints);
      if (scene !== null) {
        if (life !== null) paintLife(surface, scene, life, paints);
        paintPointer(surface, scene, bytes, { axis, pointer, brush, ruler }, paints);
      }
    },
  };
}

/** What of the selected life is out of view; the same object until that is something else. */
function useBeyond(model: Model): ReadonlySignal<Beyond | null> {
  const { axis, whole, window } = model.timeline;
  const words = useComputed(() => {
    const life = lifeOf(axis.value, whole.value);
    const beyond = life && beyondOf(life, window.value);
    return beyond && (beyond.left || beyond.right) ? JSON.stringify(beyond) : "";
  });
  return useComputed(() => (words.value === "" ? null : (JSON.parse(words.value) as Beyond)));
}
