/** What is done with pointer, wheel and keys on the map. */

import { listening } from "../../../components/listening";
import type { Model } from "../model";
import { placeAt } from "./layout";

/** Follows the box of the map until the returned function is called; `pick` is a click on it. */
export function follow(box: HTMLElement, model: Model, pick: (model: Model) => void): () => void {
  const { on, stop } = listening(box);
  const measure = (): void => {
    if (box.clientWidth === 0) return;
    model.width.value = box.clientWidth;
    model.height.value = box.clientHeight;
  };
  const observer = new ResizeObserver(measure);
  observer.observe(box);
  const find = (event: MouseEvent): void => {
    const edges = box.getBoundingClientRect();
    const [x, y] = [event.clientX - edges.left, event.clientY - edges.top];
    const [state, layout] = [model.state.peek(), model.layout.peek()];
    const place =
      state && layout ? placeAt(layout, state.segments, x, y + model.scroll.peek()) : null;
    model.pointed.value = place === null ? null : { place, x, y };
  };
  on("scroll", () => {
    model.scroll.value = box.scrollTop;
    model.pointed.value = null;
  });
  on("pointermove", find);
  on("pointerleave", () => (model.pointed.value = null));
  on("click", (event) => {
    find(event);
    pick(model);
  });
  on("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const y = event.clientY - box.getBoundingClientRect().top;
    model.zoomBy(event.deltaY < 0 ? 1 : -1, y);
  });
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") model.zoomBy(1);
    else if (event.key === "-") model.zoomBy(-1);
    else if (event.key === "ArrowRight") model.list.step(1);
    else if (event.key === "ArrowLeft") model.list.step(-1);
    else return;
    event.preventDefault();
  });
  return () => {
    observer.disconnect();
    stop();
  };
}
