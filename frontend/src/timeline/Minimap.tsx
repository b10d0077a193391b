/** The small map of the whole recording, with the window on it to drag and to resize. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isPlan, range } from "../state";
import { ink } from "../theme/theme";
import { shownLife } from "./life";
import { listenToMap } from "./mapGestures";
import type { Grip } from "./minimap";
import type { Model } from "./model";
import { paintGround, paintLines, topOf } from "./paint/map";
import { windowWords } from "./readout";
import { toPixel } from "./scale";
import { usePaint } from "./usePaint";
import { useTransform } from "./useTransform";

const HEIGHT = 40;
/** Pixels that a handle sticks out. */
const HANDLE = 3;
/** Parts of a pixel that the width of what is in view is told in: it is a fraction that trembles. */
const FINE = 64;

export function Minimap({ model }: { model: Model }) {
  const ground = useRef<HTMLCanvasElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const grip = useSignal<Grip>("outside");
  const isAll = useComputed(() => range.value === null);
  useEffect(
    () => (canvas.current === null ? undefined : listenToMap(canvas.current, model, grip)),
    [model, grip],
  );
  const plot = useComputed(() => ({ ...model.plot.value, top: 0, height: HEIGHT }));
  usePaint(
    ground,
    () => {
      const paints = ink.value;
      const [usage, whole] = [model.loader.whole.value, model.whole.value];
      const picture = { usage, whole, plot: plot.value };
      return {
        width: model.width.value,
        height: HEIGHT,
        paint: (surface) => paintGround(surface, picture, paints),
      };
    },
    true,
  );
  usePaint(
    canvas,
    () => {
      const paints = ink.value;
      const axis = model.axis.value;
      const failures = model.marks.value.flatMap((mark) => {
        const at = axis === "time" ? mark.time : mark.event;
        return mark.kind === "out_of_memory" && at !== null ? [at] : [];
      });
      const picture = {
        whole: model.whole.value,
        plot: plot.value,
        cursor: model.cursorPlace.value,
        failures,
        life: lifeOn(model),
      };
      return {
        width: model.width.value,
        height: HEIGHT,
        paint: (surface) => paintLines(surface, picture, paints),
      };
    },
    true,
  );
  const shape = useComputed(() => `timeline-map is-${grip.value}`);
  const words = useComputed(() =>
    windowWords(model.axis.value, model.window.value, model.whole.value),
  );
  const share = useComputed(() => {
    const [{ begin, end }, whole] = [model.window.value, model.whole.value];
    return Math.round(toPixel(whole, 100, (begin + end) / 2));
  });
  return (
    <div class="timeline-whole">
      <p class="unseen" id="timeline-map-keys">
        Left and right arrows move the window, plus and minus zoom, Page Up and Page Down move by
        all that is in view, Home and End go to the ends, 0 shows everything.
      </p>
      <canvas ref={ground} class="timeline-ground" />
      <Frame model={model} />
      <canvas
        ref={canvas}
        class={shape}
        role="slider"
        tabIndex={0}
        aria-label="What is in view of the whole recording"
        aria-describedby="timeline-map-keys"
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share}
        aria-valuetext={words}
        data-testid="timeline-map"
      />
      <button
        type="button"
        class="timeline-reset"
        hidden={isAll.value}
        onClick={model.fit}
        title="Show everything (double-click the chart)"
      >
        reset zoom
      </button>
    </div>
  );
}

/** The life that lies over the curve, and how high that reaches; of a plan only, where bytes are told. */
function lifeOn(model: Model) {
  const usage = model.loader.whole.value;
  const life = isPlan.value ? shownLife(model.axis.value, model.whole.value) : null;
  return life === null || usage === null ? null : { of: life, top: topOf(usage) };
}

/** What is in view, with handles; what is not is shaded. Moved, since a pan moves it every frame. */
function Frame({ model }: { model: Model }) {
  const { plot, window, whole } = model;
  const pixels = useComputed(() => {
    const { width } = plot.value;
    const [begin, end] = [window.value.begin, window.value.end];
    const isAll = begin <= whole.value.begin && end >= whole.value.end;
    const left = toPixel(whole.value, width, begin);
    return { left, wide: toPixel(whole.value, width, end) - left, isAll };
  });
  // Of these a pan changes the last one only.
  const isAll = useComputed(() => pixels.value.isAll);
  const wide = useComputed(() => Math.round(pixels.value.wide * FINE) / FINE);
  const style = useComputed(() => {
    const { width } = plot.value;
    return `grid-template-columns: ${width}px ${wide.value}px ${width}px`;
  });
  const moved = useRef<HTMLDivElement>(null);
  const transform = useComputed(() => `translateX(${pixels.value.left - plot.value.width}px)`);
  useTransform(moved, transform);
  const place = useComputed(
    () => `left: ${plot.value.left - HANDLE}px; width: ${plot.value.width + 2 * HANDLE}px`,
  );
  return (
    <div class="timeline-frame" style={place} aria-hidden="true">
      <div
        ref={moved}
        class={isAll.value ? "is-all" : ""}
        style={style}
        data-testid="timeline-frame"
      >
        <i />
        <b />
        <i />
      </div>
    </div>
  );
}
