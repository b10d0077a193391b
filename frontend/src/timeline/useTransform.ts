/** Elements that move every frame, at the least cost there is. */

import { effect, type ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/**
 * Keeps an element where `transform` says, by an animation that stands still. A transform that a
 * style sets has Chromium go over the layers of the whole page again, one that an animation has is
 * handed to the compositor by itself, which is a third of what a movement costs.
 */
export function useTransform(
  element: RefObject<HTMLElement | null>,
  transform: ReadonlySignal<string>,
): void {
  useEffect(() => {
    const animation = element.current?.animate(still(transform.peek()), {
      duration: 1,
      fill: "both",
    });
    animation?.pause();
    const keyframes = animation?.effect as KeyframeEffect | undefined;
    const stop = effect(() => keyframes?.setKeyframes(still(transform.value)));
    return () => {
      stop();
      animation?.cancel();
    };
  }, [element, transform]);
}

const still = (transform: string): Keyframe[] => [{ transform }, { transform }];
