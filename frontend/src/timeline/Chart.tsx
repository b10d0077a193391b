/** The chart itself: the stack with its axes on one canvas, what follows the pointer on another. */

import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { device, hasHistory, hover, isPlan } from "../state";
import { ink } from "../theme/theme";
import { formulaOf } from "./fragmentation";
import { listen } from "./gestures";
import { layerColours, pickedGroup } from "./groupColours";
import { shownLife } from "./life";
import type { Model } from "./model";
import { paintAxisName, paintByteAxis, paintPlaceAxis, paintShareAxis } from "./paint/axes";
import { paintCapacity, paintFragmentation, paintOther, paintReserved } from "./paint/curves";
import { paintEnds, paintHeight, paintLife } from "./paint/life";
import { paintDot, paintMarks } from "./paint/marks";
import { paintOverlay } from "./paint/overlay";
import { paintStack } from "./paint/stack";
import { describe, describeInstant, lengthWords } from "./readout";
import { levelAt, placeOfRow, rowOfEvent } from "./rows";
import { span } from "./scale";
import { Tooltip } from "./Tooltip";
import { usePaint } from "./usePaint";

export function Chart({ model }: { model: Model }) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);

  useEffect(() => (frame.current === null ? undefined : listen(frame.current, model)), [model]);
  usePaint(canvas, () => pictureOf(model));
  usePaint(overlay, () => overlayOf(model));
  useSignalEffect(() => {
    const pointed = model.pointed.value;
    hover.value = pointed === null ? null : (pointed.sheet.usage.event[pointed.row] as number);
  });
  const words = useComputed(() =>
    describe(model.loader.detail.value, model.window.value, device.value?.name ?? ""),
  );
  const spoken = useComputed(() => {
    const usage = model.loader.detail.value;
    const event = model.cursorEvent.value;
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
      <canvas ref={canvas} role="img" aria-label={words} data-testid="timeline-canvas" />
      <canvas ref={overlay} class="timeline-overlay" data-testid="timeline-overlay" />
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

/** The picture without anything that follows the pointer. */
function pictureOf(model: Model) {
  const scene = model.scene.value;
  if (scene === null) return null;
  const paints = ink.value;
  const colours = scene.sheets.map((sheet) => layerColours(sheet, pickedGroup.value));
  const isOverTime = hasHistory.value;
  const reserved = model.showReserved.value && !model.byArea.value;
  const other = model.showOther.value ? model.otherLine.value : null;
  const usage = scene.sheets.at(-1)?.usage;
  const formula = model.isFragmentationShown.value && usage ? formulaOf(usage) : null;
  return {
    width: model.width.value,
    height: model.height.value,
    paint: (surface: Parameters<typeof paintMarks>[0]) => {
      if (scene.sheets.length > 0) paintByteAxis(surface, scene, paints);
      scene.sheets.forEach((sheet, index) => {
        paintStack(surface, scene.plot, sheet, scene.height.top, colours[index] ?? []);
      });
      if (reserved) paintReserved(surface, scene, paints.text);
      if (other !== null) paintOther(surface, scene, other, paints.text, paints.background);
      paintCapacity(surface, scene, paints.danger);
      if (formula !== null) {
        paintFragmentation(surface, scene, paints.accent, paints.background);
        paintShareAxis(surface, scene, paints, formula);
      }
      if (!isOverTime) return;
      paintMarks(surface, scene, paints);
      paintDot(surface, scene, paints);
      paintPlaceAxis(surface, scene, paints);
      paintAxisName(surface, scene, paints, isPlan.value ? "order" : "event");
    },
  };
}

function overlayOf(model: Model) {
  const scene = model.scene.value;
  if (scene === null) return null;
  const paints = ink.value;
  const place = model.cursorPlace.value;
  const event = model.cursorEvent.value;
  const bytes = event === null ? null : levelAt(scene.sheets, event);
  const pointed = model.pointed.value;
  const range = model.brush.value;
  const life = hasHistory.value ? shownLife(model.axis.value, model.whole.value) : null;
  const picture = {
    cursor: place === null || !hasHistory.value ? null : { at: place, bytes },
    hover:
      pointed === null || range !== null
        ? null
        : {
            at: Math.max(scene.window.begin, placeOfRow(pointed.sheet.usage, pointed.row)),
            bytes: pointed.sheet.usage.level[pointed.row] as number,
          },
    brush: range === null ? null : { range, words: lengthWords(model.axis.value, span(range)) },
  };
  return {
    width: model.width.value,
    height: model.height.value,
    paint: (surface: Parameters<typeof paintMarks>[0]) => {
      paintOverlay(surface, scene, picture, paints);
      if (life === null) return;
      paintHeight(surface, scene, life, paints);
      paintLife(surface, scene, life, paints);
      paintEnds(surface, scene, life, paints);
    },
  };
}
