/** What wheel and keys do along the axis, on every plot that lies on it. */

import type { Model } from "./model";
import { panWindow, span, zoomWindow } from "./scale";
import { wheelFactor } from "./wheel";

/** The part of the timeline that is zoomed and moved. */
type Axis = Pick<Model, "window" | "whole" | "plot" | "setWindow" | "moveCursor">;

/** Share of the window a key press moves by, and factor it zooms by. */
export const KEY_PAN = 0.2;
export const KEY_ZOOM = 0.6;

/** Zooms about `anchor`, or pans for a sideways turn. False where there was nothing to do. */
export function turnAcross(event: WheelEvent, axis: Axis, anchor: number): boolean {
  const [window, whole] = [axis.window.peek(), axis.whole.peek()];
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const delta = (event.deltaX / axis.plot.peek().width) * span(window);
    axis.setWindow(panWindow(window, whole, delta), false);
    return true; // at the ends too: the browser would turn back a page
  }
  if (event.deltaY > 0 && span(window) >= span(whole)) return false;
  axis.setWindow(zoomWindow(window, whole, anchor, wheelFactor(event)), false);
  return true;
}

/** Does what a key stands for along the axis, zooming about `focus`; false where that is nothing. */
export function keyAcross(key: string, axis: Axis, focus: () => number): boolean {
  const [window, whole] = [axis.window.peek(), axis.whole.peek()];
  const zoom = (factor: number) =>
    axis.setWindow(zoomWindow(window, whole, focus(), factor), false);
  const pan = (share: number) =>
    axis.setWindow(panWindow(window, whole, share * span(window)), false);
  const does: Readonly<Record<string, () => void>> = {
    w: () => zoom(KEY_ZOOM),
    s: () => zoom(1 / KEY_ZOOM),
    a: () => pan(-KEY_PAN),
    d: () => pan(KEY_PAN),
    arrowleft: () => axis.moveCursor(-1),
    arrowright: () => axis.moveCursor(1),
  };
  const action = does[key.toLowerCase()];
  action?.();
  return action !== undefined;
}

/** What keys zoom about where nothing is pointed at: the cursor in view, else the middle. */
export function restingFocus({
  window,
  cursorPlace,
}: Pick<Model, "window" | "cursorPlace">): number {
  const [{ begin, end }, place] = [window.peek(), cursorPlace.peek()];
  return place !== null && place >= begin && place <= end ? place : (begin + end) / 2;
}
