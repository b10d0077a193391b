/** What keys do on the picture. */

import { panWindow, type Range, span, zoomWindow } from "../../timeline/scale";
import type { Model } from "./model";
import { spotAt } from "./spots";

/** Share of the window a key press moves by, and factor it zooms by. */
const KEY_PAN = 0.2;
const KEY_ZOOM = 0.6;

/** Does what a key stands for here; false where it stands for nothing. */
export function pressKey(key: string, model: Model): boolean {
  const { timeline } = model;
  const [window, whole] = [timeline.window.peek(), timeline.whole.peek()];
  const [bytes, tall] = [model.bytes.peek(), model.tall.peek()];
  const zoom = (factor: number) =>
    timeline.setWindow(zoomWindow(window, whole, focusOf(model, window), factor), false);
  const pan = (share: number) =>
    timeline.setWindow(panWindow(window, whole, share * span(window)), false);
  const zoomUp = (factor: number) => {
    const pointed = model.pointer.peek();
    const at = pointed === null ? (bytes.begin + bytes.end) / 2 : spotAt(model, pointed).bytes;
    model.setBytes(zoomWindow(bytes, tall, at, factor));
  };
  const panUp = (share: number) => model.setBytes(panWindow(bytes, tall, share * span(bytes)));
  const does: Readonly<Record<string, () => void>> = {
    w: () => zoom(KEY_ZOOM),
    s: () => zoom(1 / KEY_ZOOM),
    a: () => pan(-KEY_PAN),
    d: () => pan(KEY_PAN),
    arrowleft: () => timeline.moveCursor(-1),
    arrowright: () => timeline.moveCursor(1),
    arrowup: () => panUp(KEY_PAN),
    arrowdown: () => panUp(-KEY_PAN),
    "+": () => zoomUp(KEY_ZOOM),
    "=": () => zoomUp(KEY_ZOOM),
    "-": () => zoomUp(1 / KEY_ZOOM),
    "0": model.fit,
    m: () => {
      model.measures.value = !model.measures.peek();
    },
  };
  if (key === "Escape" && model.ruler.peek() !== null) {
    model.ruler.value = null;
    return true;
  }
  const action = does[key.toLowerCase()];
  action?.();
  return action !== undefined;
}

/** What keys zoom about: the place under the pointer, else the cursor in view, else the middle. */
function focusOf(model: Model, window: Range): number {
  const pointed = model.pointer.peek();
  if (pointed !== null) return spotAt(model, pointed).at;
  const place = model.timeline.cursorPlace.peek();
  const isInView = place !== null && place >= window.begin && place <= window.end;
  return isInView ? place : (window.begin + window.end) / 2;
}
