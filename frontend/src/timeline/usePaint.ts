/** Repaints a canvas when a signal its painter reads changes, at most once a frame, never hidden. */

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { visible } from "../state";
import { prepare, present, type Surface } from "./paint/surface";

/** Reads signals and says what to do with a cleared surface; `paint` null leaves it empty. */
export type Painter = () => {
  readonly width: number;
  readonly height: number;
  readonly paint: ((surface: Surface) => void) | null;
} | null;

/** `isKept`: it is painted seldom, and else stays or is moved. */
export function usePaint(
  canvas: RefObject<HTMLCanvasElement | null>,
  painter: Painter,
  isKept = false,
): void {
  // The painter is made once by its component: what it draws comes from signals, not from props.
  useEffect(() => {
    let isEmpty = false;
    return effect(() => {
      if (!visible.value) return;
      const picture = painter();
      // Browsers take as long over an empty canvas as over a full one: it is hidden instead.
      if (picture === null || (isEmpty && picture.paint === null)) return;
      const frame = requestAnimationFrame(() => {
        const element = canvas.current;
        if (element === null) return;
        const { width, height, paint } = picture;
        isEmpty = paint === null;
        element.style.visibility = isEmpty ? "hidden" : "";
        if (paint === null) return;
        if (isKept) present(element, width, height, paint);
        else {
          const surface = prepare(element, width, height);
          if (surface !== null) paint(surface);
        }
      });
      return () => cancelAnimationFrame(frame);
    });
  }, []);
}
