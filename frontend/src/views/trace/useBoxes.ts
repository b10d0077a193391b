/** Where contents of panels, and names of bookmarks, lie: measured, as legends are as tall as they must be. */

import { batch, type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import type { PanelKey } from "../../state/trace";
import type { Boxes } from "./arrows/geometry";

export function useBoxes(section: RefObject<HTMLElement | null>): {
  readonly boxes: Signal<Boxes>;
  readonly height: Signal<number>;
} {
  const boxes = useSignal<Boxes>({});
  const height = useSignal(0);
  const measure = () => {
    const element = section.current;
    if (element === null || element.clientWidth === 0) return;
    const { top } = element.getBoundingClientRect();
    const found: Record<string, { top: number; height: number }> = {};
    for (const body of element.querySelectorAll<HTMLElement>("[data-body]")) {
      const box = body.getBoundingClientRect();
      found[body.dataset.body as PanelKey] = { top: box.top - top, height: box.height };
    }
    batch(() => {
      height.value = element.clientHeight;
      if (JSON.stringify(found) !== JSON.stringify(boxes.peek())) boxes.value = found;
    });
  };
  useLayoutEffect(measure);
  useEffect(() => {
    const element = section.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { boxes, height };
}
