/** The graph: a canvas as high as what is in view of it, in a box that scrolls; pointer and keys. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { callColours, upwards } from "../../state/view";
import { dark, ink } from "../../theme/theme";
import { usePaint } from "../../timeline/usePaint";
import { frameColours } from "../../weighing/colours";
import { boxColours } from "./groups";
import { neighbour, nodeAt, type Step } from "./layout";
import { factsOf, lookInto, lookOut, type Model, type Place, ROW } from "./model";
import { paintFlame, rowTop } from "./paint";
import { spokenWords, Tooltip } from "./Tooltip";

export function Graph({ model }: { model: Model }) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const focused = useSignal(false);
  useEffect(() => {
    if (scroller.current === null) return;
    return followSize(scroller.current, model);
  }, [model]);
  useSignalEffect(() => {
    // A graph that grows upwards begins at its end.
    const box = scroller.current;
    if (box === null || model.shown.value === null) return;
    box.scrollTop = upwards.value ? model.rows.value * ROW : 0;
  });
  usePaint(canvas, () => {
    const shown = model.shown.value;
    if (shown === null) return null;
    const colours = frameColours(
      shown.graph.frames,
      callColours.value,
      dark.value ? "dark" : "light",
    );
    const picture = {
      ...shown,
      colours,
      boxes: boxColours(shown.graph),
      above: model.above.value,
      rows: model.rows.value,
      scrolled: model.scrolled.value,
      upwards: upwards.value,
      selected: model.selected.value,
      focus: focused.value ? model.focus.value : null,
      pointed: model.pointer.value?.place ?? null,
    };
    const paints = ink.value;
    return {
      width: model.width.value,
      height: model.height.value,
      paint: (surface) => paintFlame(surface, picture, paints),
    };
  });
  const placed = (event: MouseEvent): Place | null => placeAt(model, event);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !onKey(model, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    focused.value = true;
    if (scroller.current) reveal(scroller.current, model);
  };
  return (
    <div class="flame-graph">
      <div
        class="flame-scroller"
        ref={scroller}
        role="group"
        aria-label="Flame graph"
        aria-describedby="flame-keys"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys walk the graph from here
        tabIndex={0}
        data-testid="flame-graph"
        onScroll={(event) => (model.scrolled.value = event.currentTarget.scrollTop)}
        onPointerMove={(event) => {
          const place = placed(event);
          const { left, top } = event.currentTarget.getBoundingClientRect();
          model.pointer.value =
            place === null ? null : { place, x: event.clientX - left, y: event.clientY - top };
        }}
        onPointerLeave={() => (model.pointer.value = null)}
        onClick={(event) => {
          const place = placed(event);
          if (place !== null) lookInto(model, place);
        }}
        onKeyDown={onKeyDown}
        onFocus={(event) => (focused.value = event.currentTarget.matches(":focus-visible"))}
        onBlur={() => (focused.value = false)}
      >
        <div style={{ height: `${model.rows.value * ROW}px` }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label="Stacks by what they weigh; the table below says the same"
            data-testid="flame-canvas"
            style={{ height: `${model.height.value}px` }}
          />
        </div>
      </div>
      <p class="unseen" id="flame-keys">
        Down and up arrows go to what is called and back, left and right to its neighbours; Enter
        looks into a frame, Escape looks out again.
      </p>
      <p class="unseen" aria-live="polite" data-testid="flame-spoken">
        {focused.value ? spokenWords(model, model.focus.value) : ""}
      </p>
      <Tooltip model={model} />
    </div>
  );
}

function followSize(box: HTMLElement, model: Model): () => void {
  const measure = (): void => {
    const [width, height] = [box.clientWidth, box.clientHeight];
    if (width === 0) return; // hidden: the last size is that of the next look
    model.width.value = width;
    model.height.value = height;
  };
  const observer = new ResizeObserver(measure);
  observer.observe(box);
  measure();
  return () => observer.disconnect();
}

function placeAt(model: Model, event: MouseEvent): Place | null {
  const shown = model.shown.value;
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const down = event.clientY - box.top + model.scrolled.value;
  const fromTop = Math.floor(down / ROW);
  const row = upwards.value ? model.rows.value - 1 - fromTop : fromTop;
  if (shown === null || row < 0) return null;
  if (row < model.above.value) return ~row;
  const share = (event.clientX - box.left) / Math.max(model.width.value, 1);
  return nodeAt(shown.layout, row - model.above.value, share);
}

const STEPS: Readonly<Record<string, Step>> = {
  ArrowDown: "in",
  ArrowUp: "out",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** Whether the key meant something here. */
function onKey(model: Model, key: string): boolean {
  const shown = model.shown.value;
  if (shown === null) return false;
  if (key === "Escape") return lookOut(model);
  if (key === "Enter" || key === " ") {
    lookInto(model, model.focus.value);
    return true;
  }
  if (key === "Home") {
    model.focus.value = 0;
    return true;
  }
  let step = STEPS[key];
  if (step === undefined) return false;
  // Up is always up.
  if (upwards.value && step === "in") step = "out";
  else if (upwards.value && step === "out") step = "in";
  const next = walked(model, step);
  if (next !== null) model.focus.value = next;
  return true;
}

function walked(model: Model, step: Step): Place | null {
  const shown = model.shown.value;
  if (shown === null) return null;
  const { focus, above } = model;
  if (focus.value < 0) {
    const on = ~focus.value + (step === "in" ? 1 : -1);
    if (step !== "in" && step !== "out") return null;
    return on >= above.value ? 0 : on >= 0 ? ~on : null;
  }
  if (focus.value === 0 && step === "out") return above.value > 0 ? ~(above.value - 1) : null;
  return neighbour(shown.layout, shown.graph.nodes.parent, focus.value, step);
}

/** Scrolls to where the keyboard is. */
function reveal(box: HTMLElement, model: Model): void {
  const facts = factsOf(model, model.focus.value);
  if (facts === null) return;
  const top = rowTop(facts.row, model.rows.value, upwards.value);
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + box.clientHeight) {
    box.scrollTop = top + ROW - box.clientHeight;
  }
}
