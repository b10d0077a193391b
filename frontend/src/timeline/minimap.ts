/** The small map of the whole recording: what a press on it takes hold of, and where a drag leads. */

import {
  clampWindow,
  NARROWEST,
  panWindow,
  type Range,
  span,
  toPixel,
  toValue,
  zoomWindow,
} from "./scale";

/** An edge of the window, the window itself, or the map beside it (a new window is drawn). */
export type Grip = "begin" | "end" | "window" | "outside";

/** Pixels either side of an edge that still take hold of it. */
const EDGE = 5;

export function gripAt(whole: Range, window: Range, width: number, x: number): Grip {
  const left = toPixel(whole, width, window.begin);
  const right = toPixel(whole, width, window.end);
  const full = window.begin <= whole.begin && window.end >= whole.end;
  const toLeft = Math.abs(x - left);
  const toRight = Math.abs(x - right);
  if (Math.min(toLeft, toRight) <= EDGE) return toLeft < toRight ? "begin" : "end";
  if (!full && x > left && x < right) return "window";
  return "outside";
}

/** The window after its `grip` was dragged from pixel `from` to pixel `to`. */
export function dragged(
  grip: Grip,
  at: Range,
  whole: Range,
  width: number,
  from: number,
  to: number,
): Range {
  const value = Math.min(Math.max(toValue(whole, width, to), whole.begin), whole.end);
  const delta = toValue(whole, width, to) - toValue(whole, width, from);
  switch (grip) {
    case "window":
      return clampWindow({ begin: at.begin + delta, end: at.end + delta }, whole);
    case "begin":
      return { begin: Math.min(value, at.end - NARROWEST), end: at.end };
    case "end":
      return { begin: at.begin, end: Math.max(value, at.begin + NARROWEST) };
    case "outside": {
      const start = Math.min(Math.max(toValue(whole, width, from), whole.begin), whole.end);
      const begin = Math.min(start, value);
      return clampWindow({ begin, end: Math.max(start, value, begin + NARROWEST) }, whole);
    }
  }
}

/** The window moved so that its middle is at pixel `x`: what a click beside it does. */
export function centred(window: Range, whole: Range, width: number, x: number): Range {
  const half = span(window) / 2;
  const middle = toValue(whole, width, x);
  return clampWindow({ begin: middle - half, end: middle + half }, whole);
}

/** Shares of the window that keys move it by, and the factor they zoom by. */
const KEY_PAN = 0.2;
const KEY_PAGE = 0.9;
const KEY_ZOOM = 0.6;

/** The window after a key, zoomed about `focus` where that is in it; null for keys without a use here. */
export function keyedWindow(
  key: string,
  window: Range,
  whole: Range,
  focus: number | null,
): Range | null {
  const pan = (share: number) => panWindow(window, whole, share * span(window));
  const isIn = focus !== null && focus >= window.begin && focus <= window.end;
  const about = isIn ? focus : (window.begin + window.end) / 2;
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return pan(-KEY_PAN);
    case "ArrowRight":
    case "ArrowUp":
      return pan(KEY_PAN);
    case "PageUp":
      return pan(-KEY_PAGE);
    case "PageDown":
      return pan(KEY_PAGE);
    case "Home":
      return panWindow(window, whole, whole.begin - window.begin);
    case "End":
      return panWindow(window, whole, whole.end - window.end);
    case "+":
    case "=":
      return zoomWindow(window, whole, about, KEY_ZOOM);
    case "-":
      return zoomWindow(window, whole, about, 1 / KEY_ZOOM);
    case "0":
      return whole;
    default:
      return null;
  }
}
