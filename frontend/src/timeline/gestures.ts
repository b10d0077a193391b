/** Turns what is done with pointer, wheel and keys on the chart into changes of window and cursor. */

import { cursor } from "../state";
import { keyAcross, restingFocus, turnAcross } from "./across";
import { EDGE, handle, type Press } from "./handling";
import type { Model } from "./model";
import { placeOfRow } from "./rows";
import { brushedWindow, panWindow, type Range, span, toPixel, toValue } from "./scale";
import { pointedAt } from "./scene";

/** Pixels within which the wheel takes the instant that is drawn for the one that is meant. */
const STEADY = 2;
/** Pixels beside the cursor's line within which a press takes hold of it. */
const GRIP = 4;

/** Listens to the chart until the returned function is called. */
export function listen(element: HTMLElement, model: Model): () => void {
  return handle<Press, Range>(element, {
    pointer: model.pointer,
    brush: model.brush,
    isReady: () => model.scene.peek() !== null,
    begin: (from, pans) => {
      const does = pans ? "pan" : isOnCursor(model, from.x) ? "hold" : "brush";
      return { from, window: model.window.peek(), does, moved: false };
    },
    follow: (at, press) => {
      const holds = press === null ? isOnCursor(model, at.x) : press.does === "hold";
      element.classList.toggle("is-on-cursor", holds);
      // What moves along with the hand is not read out: that would be the dearest part of a pan.
      if (press?.does === "pan" && press.moved) return null;
      const isOver = at.x >= -EDGE && at.x <= model.plot.peek().width + EDGE;
      return isOver || press !== null ? at : null;
    },
    travelled: (from, at) => Math.abs(at.x - from.x),
    drag: (press, { x }) => {
      const whole = model.whole.peek();
      if (press.does === "pan") {
        const delta = ((press.from.x - x) / model.plot.peek().width) * span(press.window);
        model.setWindow(panWindow(press.window, whole, delta), false);
      } else if (press.does === "hold") pickInstant(model);
      else {
        const [from, to] = [valueAt(model, press.from.x), valueAt(model, x)];
        model.brush.value = brushedWindow(from, to, whole);
      }
    },
    zoomTo: (brushed) => model.setWindow(brushed),
    click: () => pickInstant(model),
    fit: model.fit,
    anchorAt: ({ x }) => anchorAt(model, x),
    turn: (event, _, anchor) => turnAcross(event, model, anchor),
    key: (key) => pressKey(key, model),
  });
}

function valueAt(model: Model, x: number): number {
  const { width } = model.plot.peek();
  return toValue(model.window.peek(), width, Math.min(Math.max(x, 0), width));
}

/** The instant drawn at a pixel if that is as near as the hand is steady, else the value there. */
function anchorAt(model: Model, x: number): number {
  const scene = model.scene.peek();
  const pointed = scene === null ? null : pointedAt(scene, x);
  if (scene === null || pointed === null) return valueAt(model, x);
  const place = placeOfRow(pointed.sheet.usage, pointed.row);
  const off = Math.abs(toPixel(scene.window, scene.plot.width, place) - x);
  return off <= STEADY ? place : valueAt(model, x);
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

/** Does what a key stands for here; false where it stands for nothing. */
function pressKey(key: string, model: Model): boolean {
  if (keyAcross(key, model, () => focusOf(model))) return true;
  if (key.toLowerCase() !== "escape" || cursor.peek() === null) return false;
  cursor.value = null;
  return true;
}

/** What keys zoom around: the instant under the pointer, else the cursor in view, else the middle. */
function focusOf(model: Model): number {
  const pointed = model.pointed.peek();
  return pointed === null ? restingFocus(model) : placeOfRow(pointed.sheet.usage, pointed.row);
}
