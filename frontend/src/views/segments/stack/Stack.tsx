/** Every segment from the moment it is mapped to the moment it is given back, stacked. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { listening } from "../../../components/listening";
import { bytes, counted, exactBytes } from "../../../format";
import { Layer } from "../../../picture/Layer";
import { paintBytes } from "../../../picture/paint/bytes";
import { tell } from "../../../picture/pointing";
import { ink } from "../../../theme/theme";
import { coloursFor } from "../../../timeline/groupColours";
import { ABOVE, LEFT } from "../../../timeline/model";
import { paintPlaceAxis } from "../../../timeline/paint/axes";
import { crisp, line, type Surface } from "../../../timeline/paint/surface";
import { instantTitle } from "../../../timeline/readout";
import { known } from "../../../timeline/rows";
import { toPixel, toValue, zoomWindow } from "../../../timeline/scale";
import { Tip } from "../../../timeline/Tip";
import { usePaint } from "../../../timeline/usePaint";
import { wheelFactor } from "../../../timeline/wheel";
import type { Model } from "../model";
import { createStack, HEIGHT, type StackModel } from "./model";

export function Stack({ model }: { model: Model }) {
  const stack = useMemo(() => createStack(model.timeline), [model]);
  useEffect(() => stack.dispose, [stack]);
  const frame = useRef<HTMLDivElement>(null);
  const axes = useRef<HTMLCanvasElement>(null);
  useEffect(() => (frame.current === null ? undefined : listen(frame.current, stack)), [stack]);
  usePaint(axes, () => axesOf(stack));
  const { left, top, width, height } = stack.plot.value;
  const failure = stack.pictures.failure.value;
  if (stack.question.value === null) return null;
  return (
    <section class="segments-stack" aria-label="Segments over time">
      <h2>
        Segments over time{" "}
        <span class="quiet small">each mapped range, in the colour of its pool and stream</span>
      </h2>
      {failure && (
        <p class="danger" role="alert">
          {failure}
        </p>
      )}
      <div
        class="timeline-chart segments-picture"
        ref={frame}
        style={{ height: `${HEIGHT}px` }}
        data-testid="segments-stack"
      >
        <div
          class="allocations-layers"
          style={`left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px`}
        >
          <Layer model={layerOf(stack)} picture={stack.pictures.front} name="segments-front" />
        </div>
        <canvas ref={axes} role="img" aria-label="Segments, stacked, over time" />
        <StackTooltip stack={stack} />
      </div>
    </section>
  );
}

const layerOf = ({ timeline, plot, bytes: range }: StackModel) => ({
  timeline: { window: timeline.window, plot },
  bytes: range,
});

function axesOf(stack: StackModel) {
  const { timeline } = stack;
  const scene = timeline.scene.value;
  if (scene === null) return null;
  const plot = stack.plot.value;
  const range = stack.bytes.value;
  const at = timeline.cursorPlace.value;
  const paints = ink.value;
  return {
    width: timeline.width.value,
    height: HEIGHT,
    paint: (surface: Surface) => {
      // Without lines across: they would cut the ranges, which lie under them.
      paintBytes(surface, plot, range, paints, false);
      paintPlaceAxis(surface, { ...scene, plot }, paints);
      if (at === null || at < scene.window.begin || at > scene.window.end) return;
      const x = crisp(surface, plot.left + toPixel(scene.window, plot.width, at));
      line(surface, [x, plot.top - 4], [x, plot.top + plot.height], paints.cursor, 1.5);
    },
  };
}

function StackTooltip({ stack }: { stack: StackModel }) {
  const [pointed, pointer] = [stack.pointed.value, stack.pointer.value];
  if (pointed === null || pointer === null) return null;
  const { tile, column } = pointed;
  const told = tell(pointed);
  const label = told.band === null ? null : (tile.about.groups[told.band]?.label ?? "others");
  const colour = told.band === null ? undefined : coloursFor(tile, tile.about)[told.band];
  const total = tile.columns.total[column] as number;
  const number = tile.columns.count[column] as number;
  return (
    <Tip
      x={LEFT + pointer.x}
      y={Math.max(4, Math.min(pointer.y + 18, HEIGHT * 0.5))}
      within={stack.timeline.width.value}
      testId="segments-stack-tooltip"
    >
      <div class="timeline-tooltip-title">
        {colour && <i class="timeline-swatch" style={{ background: colour }} />}
        {label === null
          ? "nothing is mapped here"
          : `${counted(told.count, "mapped range")} of ${label}`}
      </div>
      {label !== null && (
        <div class="quiet">
          {bytes(told.bytes)}, {exactBytes(told.bytes)}
        </div>
      )}
      <div class="quiet">
        {bytes(total)} in {counted(number, "mapped range")} at this instant
      </div>
      <div class="quiet">
        {instantTitle(tile.columns.event[column] as number, known(tile.columns.time[column]))}
      </div>
    </Tip>
  );
}

/** Hovering tells, a click moves the cursor, the wheel zooms the window that all views share. */
function listen(element: HTMLElement, stack: StackModel): () => void {
  const { timeline } = stack;
  const { on, stop } = listening(element);
  const pointOf = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left - LEFT, y: event.clientY - box.top - ABOVE };
  };
  on("pointermove", (event) => {
    const at = pointOf(event);
    const isOver = at.x >= 0 && at.x <= stack.plot.peek().width;
    stack.pointer.value = isOver ? at : null;
  });
  on("pointerleave", () => (stack.pointer.value = null));
  on("click", () => {
    const pointed = stack.pointed.peek();
    if (pointed !== null) timeline.setCursor(pointed.tile.columns.event[pointed.column] as number);
  });
  on("wheel", (event) => {
    const [window, whole] = [timeline.window.peek(), timeline.whole.peek()];
    const isAll = window.begin <= whole.begin && window.end >= whole.end;
    if (event.deltaY === 0 || (event.deltaY > 0 && isAll)) return;
    event.preventDefault();
    const { width } = stack.plot.peek();
    const at = toValue(window, width, Math.min(Math.max(pointOf(event).x, 0), width));
    timeline.setWindow(zoomWindow(window, whole, at, wheelFactor(event)), false);
  });
  return stop;
}
