/** Turns what is done with pointer and keys on the small map into changes of the window. */

import { listening } from "../components/listening";
import { centred, dragged, type Grip, gripAt, keyedWindow } from "./minimap";
import { LEFT, type Model } from "./model";
import type { Range } from "./scale";

/** Pixels the pointer must travel before a press is a drag. */
const DRAG = 3;

interface Press {
  readonly grip: Grip;
  readonly from: number;
  readonly window: Range;
  moved: boolean;
}

/** Listens to the map until the returned function is called. */
export function listenToMap(element: HTMLElement, model: Model, grip: { value: Grip }): () => void {
  let press: Press | null = null;
  const { on, stop } = listening(element);
  const xOf = (event: MouseEvent) => event.clientX - element.getBoundingClientRect().left - LEFT;
  const under = (x: number) =>
    gripAt(model.whole.peek(), model.window.peek(), model.plot.peek().width, x);
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    const from = xOf(event);
    press = { grip: under(from), from, window: model.window.peek(), moved: false };
    element.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
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
  });
  on("pointerup", (event) => {
    const done = press;
    press = null;
    if (done === null || done.moved || done.grip !== "outside") return;
    const { width } = model.plot.peek();
    model.setWindow(centred(done.window, model.whole.peek(), width, xOf(event)));
  });
  on("pointercancel", () => (press = null));
  on("dblclick", model.fit);
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [window, whole] = [model.window.peek(), model.whole.peek()];
    const next = keyedWindow(event.key, window, whole, model.cursorPlace.peek());
    if (next === null) return;
    event.preventDefault();
    model.setWindow(next, false);
  });
  return stop;
}
