/** Repaints a canvas when a signal its painter reads changes, at most once a frame, never hidden. */

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { visible } from "../../../state";
import { prepare, type Surface } from "./paint/surface";

/** Reads signals and says what to do with a cleared surface; `paint` null leaves it empty. */
export type Painter = () => {
  readonly width: number;
  readonly height: number;
  readonly paint: ((surface: Surface) => void) | null;
} | null;

export function usePaint(canvas: RefObject<HTMLCanvasElement | null>, painter: Painter): void {
  // The painter is made once by its component: what it draws comes from signals, not from props.
  useEffect(() => {
    let isEmpty = false;
    return effect(() => {
      if (!visible.value) return;
      const picture = painter();
      // Browsers take as long over an empty canvas as over a full one.
      if (picture === null || (isEmpty && picture.paint === null)) return;
      const frame = requestAnimationFrame(() => {
        if (canvas.current === null) return;
        const surface = prepare(canvas.current, picture.width, picture.height);
        if (surface === null) return;
        picture.paint?.(surface);
        isEmpty = picture.paint === null;
      });
      return () => cancelAnimationFrame(frame);
    });
  }, []);
}
