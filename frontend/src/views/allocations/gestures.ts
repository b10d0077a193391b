/** Turns what is done with pointer, wheel and keys on the picture into changes of the state. */

import { batch } from "@preact/signals";
import { listening } from "../../components/listening";
import type { Spot } from "../../picture/pointing";
import { allocationAt, binAt, pointAt, tell } from "../../picture/pointing";
import { bytesRange, cursor, only, selection } from "../../state";
import { ABOVE, LEFT, type Point } from "../../timeline/model";
import { panWindow, type Range, span } from "../../timeline/scale";
import { areaBetween } from "./brushing";
import { pressKey } from "./keys";
import type { Model } from "./model";
import { spotAt } from "./spots";
import { anchorAt, turnWheel } from "./wheel";

/** Pixels the pointer must travel before a press is a drag. */
const DRAG = 4;
const TWICE = 500;
/** Pixels beside the plot that still count as its first and last column. */
const EDGE = 4;
/** Bins to either side of a merged cell that a click on it shows. */
const AROUND = 4;

interface Press {
  readonly id: number;
  readonly from: Point;
  readonly spot: Spot;
  readonly window: Range;
  readonly bytes: Range;
  readonly does: "brush" | "pan" | "measure";
  moved: boolean;
}

/** Listens to the picture until the returned function is called. */
export function listen(element: HTMLElement, model: Model): () => void {
  const { timeline } = model;
  let press: Press | null = null;
  let spaceIsDown = false;
  /** What the wheel last zoomed about, and the pixel that the pointer was at. */
  let anchor: { readonly x: number; readonly value: number } | null = null;
  let picked = { at: Number.NEGATIVE_INFINITY, before: cursor.peek() };
  const { on, stop } = listening(element);
  const pointOf = (event: MouseEvent): Point => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left - LEFT, y: event.clientY - box.top - ABOVE };
  };

  on("pointerdown", (event) => {
    if (event.button > 1 || model.pictures.front.peek() === null) return;
    if (event.button === 1) event.preventDefault();
    const from = pointOf(event);
    const pans = event.button === 1 || event.shiftKey || spaceIsDown;
    const measures = model.measures.peek() || event.altKey;
    press = {
      id: event.pointerId,
      from,
      spot: spotAt(model, from),
      window: timeline.window.peek(),
      bytes: model.bytes.peek(),
      does: pans ? "pan" : measures ? "measure" : "brush",
      moved: false,
    };
    element.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const at = pointOf(event);
    anchor = null;
    const { width, height } = timeline.plot.peek();
    const isOver = at.x >= -EDGE && at.x <= width + EDGE && at.y >= -EDGE && at.y <= height;
    model.pointer.value = isOver && press?.moved !== true ? at : null;
    if (press === null || press.id !== event.pointerId) return;
    if (Math.hypot(at.x - press.from.x, at.y - press.from.y) >= DRAG) press.moved = true;
    if (press.moved) drag(model, press, at);
  });
  on("pointerup", (event) => {
    if (press === null || press.id !== event.pointerId) return;
    const done = press;
    press = null;
    const brushed = model.brush.peek();
    model.brush.value = null;
    if (brushed !== null) model.setArea(brushed);
    else if (!done.moved && done.does === "brush") {
      const isSecond = event.timeStamp - picked.at < TWICE;
      if (!isSecond) picked = { at: event.timeStamp, before: cursor.peek() };
      pick(model, pointOf(event));
    } else if (!done.moved && done.does === "measure") model.ruler.value = null;
  });
  on("pointercancel", () => {
    press = null;
    model.brush.value = null;
  });
  on("pointerleave", () => {
    if (press === null) model.pointer.value = null;
  });
  on("dblclick", () => {
    // Its first click was not meant to move the cursor.
    cursor.value = picked.before;
    model.fit();
  });
  on("wheel", (event) => {
    // Wheels tell whole pixels only, pointers their parts too.
    const at = model.pointer.peek() ?? pointOf(event);
    // One turn after another about the same instant: what was under the pointer stays in view.
    if (anchor?.x !== at.x) anchor = { x: at.x, value: anchorAt(model, at) };
    if (turnWheel(event, model, at, anchor.value)) event.preventDefault();
  });
  on("keydown", (event) => {
    if (event.key === " ") spaceIsDown = true;
    else if (event.key === "Escape" && model.brush.peek() !== null) {
      press = null;
      model.brush.value = null;
    } else if (event.ctrlKey || event.metaKey || event.altKey || !pressKey(event.key, model))
      return;
    event.preventDefault();
  });
  on("keyup", (event) => {
    if (event.key === " ") spaceIsDown = false;
  });
  on("blur", () => {
    spaceIsDown = false;
  });
  return stop;
}

function drag(model: Model, press: Press, at: Point): void {
  const { timeline } = model;
  const { width, height } = timeline.plot.peek();
  if (press.does === "pan") {
    const across = ((press.from.x - at.x) / width) * span(press.window);
    const up = ((at.y - press.from.y) / height) * span(press.bytes);
    batch(() => {
      timeline.setWindow(panWindow(press.window, timeline.whole.peek(), across), false);
      if (bytesRange.peek() !== null) model.setBytes(panWindow(press.bytes, model.tall.peek(), up));
    });
    return;
  }
  const spots = { from: press.spot, to: spotAt(model, at) };
  if (press.does === "measure") model.ruler.value = spots;
  else {
    const { whole } = timeline;
    model.brush.value = areaBetween(press.from, at, spots, whole.peek(), model.tall.peek());
  }
}

/** A click: explains an allocation, comes closer to what is too small, moves the cursor. */
function pick(model: Model, at: Point): void {
  const { plot, setCursor, setWindow, whole } = model.timeline;
  const { width, height } = plot.peek();
  if (at.x < -EDGE || at.x > width + EDGE || at.y < -EDGE) return;
  const picture = model.pictures.front.peek();
  const isOnAxis = at.y > height;
  const spot = spotAt(model, { x: Math.min(Math.max(at.x, 0), width - 0.5), y: at.y });
  const pointed =
    picture && pointAt(picture, isOnAxis ? { ...spot, bytes: picture.view.low } : spot);
  if (!pointed) return;
  const event = pointed.tile.columns.event[pointed.column] as number;
  if (isOnAxis) {
    setCursor(event);
    return;
  }
  const id = allocationAt(pointed);
  const { kind } = tell(pointed);
  if (id === null && kind === "several") {
    const bin = binAt(pointed);
    const air = span(bin) * AROUND;
    setWindow({ begin: bin.begin - air, end: Math.min(bin.end + air, whole.peek().end) });
  } else if (kind === "gap") {
    // So that the gap fills a third of the height.
    const { begin, end } = pointed.reach;
    model.setBytes({ begin: begin - (end - begin), end: end + (end - begin) });
  } else {
    batch(() => {
      selection.value = id === null ? null : { kind: "allocation", id };
      // What is alive at the cursor would be another picture: it then moves on the axis only.
      if (only.peek() !== "alive") setCursor(event);
    });
  }
}
