/** The small map of the whole recording, with the window on it to drag and to resize. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { range } from "../../../state";
import { ink } from "../../../theme/theme";
import { centred, dragged, type Grip, gripAt } from "./minimap";
import { LEFT, type Model } from "./model";
import { paintGround, paintMap } from "./paint/map";
import type { Range } from "./scale";
import { usePaint } from "./usePaint";

const HEIGHT = 40;
/** Pixels the pointer must travel before a press is a drag. */
const DRAG = 3;

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
  usePaint(ground, () => {
    const paints = ink.value;
    const [usage, whole] = [model.loader.whole.value, model.whole.value];
    const picture = { usage, whole, plot: plot.value };
    return {
      width: model.width.value,
      height: HEIGHT,
      paint: (surface) => paintGround(surface, picture, paints),
    };
  });
  usePaint(canvas, () => {
    const paints = ink.value;
    const axis = model.axis.value;
    const failures = model.marks.value.flatMap((mark) => {
      const at = axis === "time" ? mark.time : mark.event;
      return mark.kind === "out_of_memory" && at !== null ? [at] : [];
    });
    const picture = {
      whole: model.whole.value,
      window: model.window.value,
      plot: plot.value,
      cursor: model.cursorPlace.value,
      failures,
    };
    return {
      width: model.width.value,
      height: HEIGHT,
      paint: (surface) => paintMap(surface, picture, paints),
    };
  });
  const shape = useComputed(() => `timeline-map is-${grip.value}`);
  return (
    <div class="timeline-whole">
      <canvas ref={ground} class="timeline-ground" />
      <canvas
        ref={canvas}
        class={shape}
        role="img"
        aria-label="The whole recording"
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

interface Press {
  readonly grip: Grip;
  readonly from: number;
  readonly window: Range;
  moved: boolean;
}

function listenToMap(element: HTMLCanvasElement, model: Model, grip: { value: Grip }): () => void {
  let press: Press | null = null;
  const stop = new AbortController();
  const options = { signal: stop.signal };
  const xOf = (event: MouseEvent) => event.clientX - element.getBoundingClientRect().left - LEFT;
  const under = (x: number) =>
    gripAt(model.whole.peek(), model.window.peek(), model.plot.peek().width, x);
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0) return;
      const from = xOf(event);
      press = { grip: under(from), from, window: model.window.peek(), moved: false };
      element.setPointerCapture(event.pointerId);
    },
    options,
  );
  element.addEventListener(
    "pointermove",
    (event) => {
      const x = xOf(event);
      if (press === null) {
        grip.value = under(x);
        return;
      }
      if (Math.abs(x - press.from) >= DRAG) press.moved = true;
      if (!press.moved) return;
      const { width } = model.plot.peek();
      const to = dragged(press.grip, press.window, model.whole.peek(), width, press.from, x);
      model.setWindow(to, false);
    },
    options,
  );
  element.addEventListener(
    "pointerup",
    (event) => {
      const done = press;
      press = null;
      if (done === null || done.moved || done.grip !== "outside") return;
      const { width } = model.plot.peek();
      model.setWindow(centred(done.window, model.whole.peek(), width, xOf(event)));
    },
    options,
  );
  element.addEventListener("pointercancel", () => (press = null), options);
  element.addEventListener("dblclick", model.fit, options);
  return () => stop.abort();
}
