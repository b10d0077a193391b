/** Turns what is done with pointer, wheel and keys on the chart into changes of window and cursor. */

import { listening } from "../components/listening";
import { cursor } from "../state";
import { ABOVE, LEFT, type Model } from "./model";
import { placeOfRow } from "./rows";
import { brushedWindow, panWindow, type Range, span, toPixel, toValue, zoomWindow } from "./scale";
import { pointedAt } from "./scene";
import { wheelFactor } from "./wheel";

/** Pixels the pointer must travel before a press is a drag. */
const DRAG = 4;
/** Clicks closer than this are one double-click, in ms. */
const TWICE = 500;
/** Pixels within which the wheel takes the instant that is drawn for the one that is meant. */
const STEADY = 2;
/** Pixels beside the cursor's line within which a press takes hold of it. */
const GRIP = 4;
/** Pixels beside the plot that still count as its first and last column. */
const EDGE = 4;
/** Share of the window a key press pans by, and factor it zooms by. */
const KEY_PAN = 0.2;
const KEY_ZOOM = 0.6;

interface Press {
  readonly id: number;
  readonly x: number;
  readonly window: Range;
  readonly pans: boolean;
  /** Whether it began on the cursor's line, which then follows the pointer. */
  readonly holds: boolean;
  moved: boolean;
}

/** Listens to the chart until the returned function is called. */
export function listen(element: HTMLElement, model: Model): () => void {
  let press: Press | null = null;
  let spaceIsDown = false;
  /** What the wheel last zoomed about, and the pixel that the pointer was at. */
  let anchor: { readonly x: number; readonly value: number } | null = null;
  /** When the cursor was last set by a click, and where it was before. */
  let picked = { at: Number.NEGATIVE_INFINITY, before: cursor.peek() };
  const { on, stop } = listening(element);

  const xOf = (event: MouseEvent) => event.clientX - element.getBoundingClientRect().left - LEFT;
  const yOf = (event: MouseEvent) => event.clientY - element.getBoundingClientRect().top - ABOVE;
  const valueAt = (x: number, window = model.window.peek()) => {
    const { width } = model.plot.peek();
    return toValue(window, width, Math.min(Math.max(x, 0), width));
  };

  /** The instant drawn at a pixel if that is as near as the hand is steady, else the value there. */
  const anchorAt = (x: number) => {
    const scene = model.scene.peek();
    const pointed = scene === null ? null : pointedAt(scene, x);
    if (scene === null || pointed === null) return valueAt(x);
    const place = placeOfRow(pointed.sheet.usage, pointed.row);
    const off = Math.abs(toPixel(scene.window, scene.plot.width, place) - x);
    return off <= STEADY ? place : valueAt(x);
  };

  on("pointerdown", (event) => {
    if (event.button > 1 || model.scene.peek() === null) return;
    // The middle button would start the browser's own scrolling.
    if (event.button === 1) event.preventDefault();
    const pans = event.button === 1 || event.shiftKey || spaceIsDown;
    const x = xOf(event);
    const holds = !pans && isOnCursor(model, x);
    press = { id: event.pointerId, x, window: model.window.peek(), pans, holds, moved: false };
    element.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const x = xOf(event);
    const isOver = x >= -EDGE && x <= model.plot.peek().width + EDGE;
    anchor = null;
    element.classList.toggle("is-on-cursor", press?.holds ?? isOnCursor(model, x));
    model.pointer.value = isOver || press !== null ? { x, y: yOf(event) } : null;
    if (press === null || press.id !== event.pointerId) return;
    if (Math.abs(x - press.x) >= DRAG) press.moved = true;
    if (!press.moved) return;
    if (press.pans) {
      const delta = ((press.x - x) / model.plot.peek().width) * span(press.window);
      model.setWindow(panWindow(press.window, model.whole.peek(), delta), false);
    } else if (press.holds) pickInstant(model);
    else model.brush.value = brushedWindow(valueAt(press.x), valueAt(x), model.whole.peek());
  });
  on("pointerup", (event) => {
    if (press === null || press.id !== event.pointerId) return;
    const done = press;
    press = null;
    const brushed = model.brush.peek();
    model.brush.value = null;
    if (brushed !== null) model.setWindow(brushed);
    else if (!done.moved && !done.pans) {
      const isSecond = event.timeStamp - picked.at < TWICE;
      if (!isSecond) picked = { at: event.timeStamp, before: cursor.peek() };
      pickInstant(model);
    }
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
    const x = model.pointer.peek()?.x ?? xOf(event);
    // One turn after another about the same instant: what was under the pointer stays in view.
    if (anchor?.x !== x) anchor = { x, value: anchorAt(x) };
    if (turnWheel(event, model, anchor.value)) event.preventDefault();
  });
  on("keydown", (event) => {
    if (event.key === " ") spaceIsDown = true;
    else if (event.key === "Escape" && model.brush.peek() !== null) {
      press = null;
      model.brush.value = null;
    } else if (event.ctrlKey || event.metaKey || event.altKey || !pressKey(event.key, model))
      return;
    // The page has uses of its own for these keys where the chart has none.
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

function isOnCursor(model: Model, x: number): boolean {
  const place = model.cursorPlace.peek();
  const window = model.window.peek();
  if (place === null || place < window.begin || place > window.end) return false;
  return Math.abs(toPixel(window, model.plot.peek().width, place) - x) <= GRIP;
}

function pickInstant(model: Model): void {
  const pointed = model.pointed.peek();
  if (pointed !== null) model.setCursor(pointed.sheet.usage.event[pointed.row] as number);
}

/** Zooms around `at`, or pans for a sideways turn. False where there was nothing to do: then the page scrolls. */
function turnWheel(event: WheelEvent, model: Model, at: number): boolean {
  const [window, whole] = [model.window.peek(), model.whole.peek()];
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const delta = (event.deltaX / model.plot.peek().width) * span(window);
    model.setWindow(panWindow(window, whole, delta), false);
    return true; // at the ends too: the browser would turn back a page
  }
  if (event.deltaY > 0 && span(window) >= span(whole)) return false;
  model.setWindow(zoomWindow(window, whole, at, wheelFactor(event)), false);
  return true;
}

/** Does what a key stands for here; false where it stands for nothing. */
function pressKey(key: string, model: Model): boolean {
  const [window, whole] = [model.window.peek(), model.whole.peek()];
  const zoom = (factor: number) => {
    model.setWindow(zoomWindow(window, whole, focusOf(model, window), factor), false);
    return true;
  };
  const pan = (share: number) => {
    model.setWindow(panWindow(window, whole, share * span(window)), false);
    return true;
  };
  switch (key.toLowerCase()) {
    case "w":
      return zoom(KEY_ZOOM);
    case "s":
      return zoom(1 / KEY_ZOOM);
    case "a":
      return pan(-KEY_PAN);
    case "d":
      return pan(KEY_PAN);
    case "arrowleft":
      model.moveCursor(-1);
      return true;
    case "arrowright":
      model.moveCursor(1);
      return true;
    case "escape":
      if (cursor.peek() === null) return false;
      cursor.value = null;
      return true;
    default:
      return false;
  }
}

/** What keys zoom around: the instant under the pointer, else the cursor in view, else the middle. */
function focusOf(model: Model, window: Range): number {
  const pointed = model.pointed.peek();
  if (pointed !== null) return placeOfRow(pointed.sheet.usage, pointed.row);
  const place = model.cursorPlace.peek();
  if (place !== null && place >= window.begin && place <= window.end) return place;
  return (window.begin + window.end) / 2;
}
