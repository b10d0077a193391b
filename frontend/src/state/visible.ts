/** Whether the tab is being looked at. Hidden, nothing is fetched, polled or drawn. */

import { signal } from "@preact/signals";

export const visible = signal(true);

/** Follows TensorBoard, which hides a plugin by giving its frame no height, and the browser's tab. */
export function watchVisibility(target: globalThis.Window): () => void {
  const update = (): void => {
    visible.value = target.innerHeight > 0 && target.document.visibilityState !== "hidden";
  };
  update();
  target.addEventListener("resize", update);
  target.document.addEventListener("visibilitychange", update);
  return () => {
    target.removeEventListener("resize", update);
    target.document.removeEventListener("visibilitychange", update);
  };
}
