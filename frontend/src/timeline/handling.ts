/** What the hand does on a plot: presses, drags, clicks, wheel and keys, whatever is drawn there. */

import type { Signal } from "@preact/signals";
import { listening } from "../components/listening";
import { cursor } from "../state";
import { ABOVE, LEFT, type Point } from "./model";
import type { Range } from "./scale";

/** Pixels the pointer must travel before a press is a drag. */
const DRAG = 4;
/** Clicks closer than this are one double-click, in ms. */
const TWICE = 500;
/** Pixels beside the plot that still count as its first and last column. */
export const EDGE = 4;

/** What a press does once it moves: `hold` moves the cursor's line. */
export type Does = "brush" | "pan" | "measure" | "hold";

/** A press that lasts: where it began and what was in view then. */
export interface Press {
  readonly from: Point;
  readonly window: Range;
  readonly does: Does;
  /** Whether it has become a drag. */
  moved: boolean;
}

/** What a plot makes of it; points are in pixels of the plot. */
export interface Handled<Pressed extends Press, Brushed> {
  readonly pointer: Signal<Point | null>;
  readonly brush: Signal<Brushed | null>;
  /** Whether there is anything to take hold of. */
  isReady(): boolean;
  /** What a press begins; `pans` for the middle button, Shift and the space bar. */
  begin(from: Point, pans: boolean, event: PointerEvent): Pressed;
  /** Where the pointer is to be seen, if anywhere. */
  follow(at: Point, press: Pressed | null): Point | null;
  /** How far a press has travelled, in pixels. */
  travelled(from: Point, at: Point): number;
  drag(press: Pressed, at: Point): void;
  zoomTo(brushed: Brushed): void;
  /** A press let go where it began; none that would have panned. */
  click(press: Pressed, at: Point): void;
  fit(): void;
  /** What the wheel zooms about at a point. */
  anchorAt(at: Point): number;
  /** False where there was nothing to do: then the page scrolls. */
  turn(event: WheelEvent, at: Point, anchor: number): boolean;
  /** False where the key stands for nothing: the page may have a use for it. */
  key(key: string): boolean;
}

/** Listens to a plot's element until the returned function is called. */
export function handle<Pressed extends Press, Brushed>(
  element: HTMLElement,
  plot: Handled<Pressed, Brushed>,
): () => void {
  let press: { readonly id: number; readonly is: Pressed } | null = null;
  let spaceIsDown = false;
  /** What the wheel last zoomed about, and the pixel that the pointer was at. */
  let anchor: { readonly x: number; readonly value: number } | null = null;
  /** When the cursor was last set by a click, and where it was before. */
  let picked = { at: Number.NEGATIVE_INFINITY, before: cursor.peek() };
  const { on, stop } = listening(element);
  const pointOf = (event: MouseEvent): Point => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left - LEFT, y: event.clientY - box.top - ABOVE };
  };
  const drop = () => {
    press = null;
    plot.brush.value = null;
  };

  on("pointerdown", (event) => {
    if (event.button > 1 || !plot.isReady()) return;
    // The middle button would start the browser's own scrolling.
    if (event.button === 1) event.preventDefault();
    const pans = event.button === 1 || event.shiftKey || spaceIsDown;
    press = { id: event.pointerId, is: plot.begin(pointOf(event), pans, event) };
    element.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const at = pointOf(event);
    anchor = null;
    plot.pointer.value = plot.follow(at, press?.is ?? null);
    if (press === null || press.id !== event.pointerId) return;
    if (plot.travelled(press.is.from, at) >= DRAG) press.is.moved = true;
    if (press.is.moved) plot.drag(press.is, at);
  });
  on("pointerup", (event) => {
    if (press === null || press.id !== event.pointerId) return;
    const { is: done } = press;
    const brushed = plot.brush.peek();
    drop();
    if (brushed !== null) plot.zoomTo(brushed);
    else if (!done.moved && done.does !== "pan") {
      const isSecond = event.timeStamp - picked.at < TWICE;
      if (done.does !== "measure" && !isSecond)
        picked = { at: event.timeStamp, before: cursor.peek() };
      plot.click(done, pointOf(event));
    }
  });
  on("pointercancel", drop);
  on("pointerleave", () => {
    if (press === null) plot.pointer.value = null;
  });
  on("dblclick", () => {
    // Its first click was not meant to move the cursor.
    cursor.value = picked.before;
    plot.fit();
  });
  on("wheel", (event) => {
    // Wheels tell whole pixels only, pointers their parts too.
    const at = plot.pointer.peek() ?? pointOf(event);
    // One turn after another about the same instant: what was under the pointer stays in view.
    if (anchor?.x !== at.x) anchor = { x: at.x, value: plot.anchorAt(at) };
    if (plot.turn(event, at, anchor.value)) event.preventDefault();
  });
  on("keydown", (event) => {
    if (event.key === " ") spaceIsDown = true;
    else if (event.key === "Escape" && plot.brush.peek() !== null) drop();
    else if (event.ctrlKey || event.metaKey || event.altKey || !plot.key(event.key)) return;
    // The page has uses of its own for these keys where the plot has none.
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
