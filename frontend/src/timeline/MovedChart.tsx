/** The chart where panels are panned together: drawn for more than is in view, and moved with them. */

import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { device, hover } from "../state";
import { ink } from "../theme/theme";
import { formulaOf } from "./fragmentation";
import { listen } from "./gestures";
import { layerColours, pickedGroup } from "./groupColours";
import { shownLife } from "./life";
import { Moved } from "./Moved";
import { ABOVE, BELOW, type Model } from "./model";
import {
  paintAxisName,
  paintByteAxis,
  paintPlaceAxis,
  paintShareAxis,
  type Seen,
} from "./paint/axes";
import { paintCapacity, paintFragmentation, paintReserved } from "./paint/curves";
import { paintEnds, paintLife } from "./paint/life";
import { paintDot, paintMarks } from "./paint/marks";
import { paintStack } from "./paint/stack";
import type { Surface } from "./paint/surface";
import { describe, describeInstant } from "./readout";
import { rowOfEvent } from "./rows";
import { dotFor, type Scene, sceneFor, sheetsFor } from "./scene";
import { Tooltip } from "./Tooltip";
import { usePaint } from "./usePaint";

/** Pixels beside the plot that labels of its edges stand on. */
const BESIDE = 16;

export function MovedChart({ model }: { model: Model }) {
  const frame = useRef<HTMLDivElement>(null);
  const axes = useRef<HTMLCanvasElement>(null);
  const scene = useComputed(() => sceneOf(model));
  useEffect(() => (frame.current === null ? undefined : listen(frame.current, model)), [model]);
  usePaint(axes, () => axesOf(model, scene.value), true);
  useSignalEffect(() => {
    const pointed = model.pointed.value;
    hover.value = pointed === null ? null : (pointed.sheet.usage.event[pointed.row] as number);
  });
  const words = useComputed(() =>
    describe(model.loader.detail.value, model.still.value, device.value?.name ?? ""),
  );
  const spoken = useComputed(() => {
    const [usage, event] = [model.loader.detail.value, model.cursorEvent.value];
    const row = usage === null || event === null ? -1 : rowOfEvent(usage, event);
    return usage === null || row < 0 ? "" : describeInstant(usage, row);
  });
  return (
    <div
      class="timeline-chart"
      ref={frame}
      role="group"
      aria-label="Timeline"
      aria-describedby="timeline-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys zoom, pan and move the cursor here
      tabIndex={0}
      data-testid="timeline-chart"
    >
      <canvas ref={axes} role="img" aria-label={words} data-testid="timeline-canvas" />
      <Moved
        model={model}
        frame={() => ({ top: 0, height: ABOVE + model.plot.value.height })}
        painter={({ from, seen }) => {
          const drawn = scene.value;
          const paints = ink.value;
          if (drawn === null) return null;
          const placed = { ...drawn, plot: { ...drawn.plot, left: from } };
          const colours = drawn.sheets.map((sheet) => layerColours(sheet, pickedGroup.value));
          const reserved = model.showReserved.value;
          const isWasteShown = model.isFragmentationShown.value;
          const life = shownLife(model.axis.value, model.whole.value);
          return (surface) => {
            drawn.sheets.forEach((sheet, at) => {
              paintStack(surface, placed.plot, sheet, drawn.height.top, colours[at] ?? []);
            });
            if (reserved) paintReserved(surface, placed, paints.text);
            paintCapacity(surface, placed, paints.danger);
            if (isWasteShown) paintFragmentation(surface, placed, paints.accent, paints.background);
            paintMarks(surface, placed, paints);
            paintDot(surface, inView(model, placed, seen), paints);
            if (life === null) return;
            paintLife(surface, placed, life, paints);
            paintEnds(surface, placed, life, paints);
          };
        }}
        testId="timeline-stack"
      />
      <Moved
        model={model}
        frame={() => ({ top: ABOVE + model.plot.value.height, height: BELOW })}
        beside={BESIDE}
        painter={({ reach, from, width, seen }) => {
          const [axis, paints] = [model.axis.value, ink.value];
          const plot = { left: from, top: 0, width, height: 0, columns: width };
          return (surface) => paintPlaceAxis(surface, { axis, window: reach, plot }, paints, seen);
        }}
        testId="timeline-place"
      />
      <p class="unseen" id="timeline-keys">
        W and S zoom, A and D pan, left and right arrows move the cursor, Escape returns it to the
        peak. Drag to zoom in, double-click to see everything.
      </p>
      <p class="unseen" aria-live="polite" data-testid="timeline-spoken">
        {spoken}
      </p>
      <Tooltip model={model} />
    </div>
  );
}

/** What is drawn of the axis, with its left edge at 0. */
function sceneOf(model: Model): Scene | null {
  const [of, { width, height }, reach] = [device.value, model.plot.value, model.reach.value];
  if (of === null || width <= 0) return null;
  const wide = Math.round(width * reach.times);
  const columns = Math.round(wide * model.ratio.value);
  const plot = { left: 0, top: ABOVE, width: wide, height, columns };
  const { detail, whole } = model.loader;
  const sheets = sheetsFor(detail.value, whole.value, reach, columns, model.showFree.value);
  const shown = { reserved: model.showReserved.value, capacity: model.showCapacity.value };
  return sceneFor(model.axis.value, reach, plot, sheets, of, model.marks.value, shown);
}

/** The part of a scene that is in view, whose highest place has a dot. */
function inView(model: Model, scene: Scene, seen: Seen): Scene {
  const [of, window] = [device.peek(), model.window.peek()];
  const plot = { ...scene.plot, left: seen.left, width: seen.right - seen.left };
  return {
    ...scene,
    plot,
    dot: of === null ? null : dotFor(scene.axis, window, plot, scene.sheets, of),
  };
}

/** What stays where it is while the others are panned. */
function axesOf(model: Model, scene: Scene | null) {
  if (scene === null) return null;
  const [plot, paints, axis] = [model.plot.value, ink.value, model.axis.value];
  const usage = scene.sheets.at(-1)?.usage;
  const formula = model.isFragmentationShown.value && usage ? formulaOf(usage) : null;
  const placed = { ...scene, plot, marks: [] };
  return {
    width: model.width.value,
    height: model.height.value,
    paint: (surface: Surface) => {
      if (scene.sheets.length > 0) paintByteAxis(surface, placed, paints);
      if (formula !== null) paintShareAxis(surface, placed, paints, formula);
      paintAxisName(surface, { axis, plot }, paints);
    },
  };
}
