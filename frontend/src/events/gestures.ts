/** Scrolling, wheel and keys on the list of events. */

import { listening } from "../components/listening";
import { selection } from "../state";
import type { List } from "./list";
import { ROW, scrollFor, topAt } from "./scaling";

/** Listens to the box of the rows until the returned function is called. */
export function listen(box: HTMLElement, list: List): () => void {
  const { on, stop } = listening(box);
  const observer = new ResizeObserver(() => {
    if (box.clientHeight > 0) list.seen.value = box.clientHeight;
  });
  observer.observe(box);
  on("scroll", () => {
    const scaling = list.scaling.peek();
    // Dragging the bar; what this list itself has set is within a pixel.
    if (Math.abs(box.scrollTop - scrollFor(scaling, list.top.peek())) < 1.5) return;
    list.top.value = topAt(scaling, box.scrollTop);
  });
  on("wheel", (event) => {
    if (event.ctrlKey) return;
    const { last } = list.scaling.peek();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY : event.deltaY / ROW;
    const next = Math.min(Math.max(list.top.peek() + lines, 0), last);
    if (next === list.top.peek()) return; // at an end the page scrolls on
    event.preventDefault();
    list.top.value = next;
  });
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(list.seen.peek() / ROW) - 1);
    const act = {
      ArrowDown: () => list.step(1),
      ArrowUp: () => list.step(-1),
      PageDown: () => list.step(page),
      PageUp: () => list.step(-page),
      Home: () => void list.go(0),
      End: () => void list.go(list.count.peek() - 1),
      Enter: () => {
        const id = list.current.peek()?.allocation;
        if (id) selection.value = { kind: "allocation", id };
      },
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  return () => {
    observer.disconnect();
    stop();
  };
}
