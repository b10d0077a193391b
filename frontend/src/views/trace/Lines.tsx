/** Lines through a panel at the cursor and under the pointer, and what is brushed: those of the chart. */

import { type ReadonlySignal, useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { LEFT, type Model } from "../../timeline/model";
import { placeOfRow } from "../../timeline/rows";
import { toPixel } from "../../timeline/scale";
import { useTransform } from "../../timeline/useTransform";

/** Where nothing is seen of it. */
const AWAY = -9999;
/** Half of the width of the chart's lines, in pixels. */
const HALF = 0.75;

interface LinesProps {
  model: Model;
  /** False where what is under it draws the cursor itself. */
  hasCursor?: boolean;
  /** Whether there are axes above and below what it lies on. */
  isPlot?: boolean;
}

export function Lines({ model, hasCursor = true, isPlot = false }: LinesProps) {
  const cursor = useComputed(() => model.cursorPlace.value);
  const hover = useComputed(() => {
    const pointed = model.pointed.value;
    if (pointed === null || model.brush.value !== null) return null;
    return Math.max(model.window.value.begin, placeOfRow(pointed.sheet.usage, pointed.row));
  });
  return (
    <div class={isPlot ? "trace-lines is-plot" : "trace-lines"}>
      {hasCursor ? <Line model={model} at={cursor} name="cursor" /> : null}
      <Line model={model} at={hover} name="hover" />
      <Brush model={model} />
    </div>
  );
}

interface LineProps {
  model: Model;
  at: ReadonlySignal<number | null>;
  name: string;
}

function Line({ model, at, name }: LineProps) {
  const element = useRef<HTMLElement>(null);
  const transform = useComputed(() => {
    const [place, window, { width }] = [at.value, model.window.value, model.plot.value];
    const isSeen = place !== null && place >= window.begin && place <= window.end;
    const x = isSeen ? crisp(LEFT + toPixel(window, width, place), model.ratio.value) - HALF : AWAY;
    return `translateX(${x}px)`;
  });
  useTransform(element, transform);
  return <i ref={element} class={`trace-line is-${name}`} data-testid={`trace-line-${name}`} />;
}

/** The middle of the device pixel that the chart draws its line in. */
const crisp = (x: number, ratio: number): number => (Math.round(x * ratio - 0.5) + 0.5) / ratio;

function Brush({ model }: { model: Model }) {
  const brush = model.brush.value;
  if (brush === null) return null;
  const [window, { width }] = [model.window.value, model.plot.value];
  const left = toPixel(window, width, brush.begin);
  const right = toPixel(window, width, brush.end);
  return (
    <i
      class="trace-brush"
      data-testid="trace-brush"
      style={{ left: `${LEFT + left}px`, width: `${right - left}px` }}
    />
  );
}
