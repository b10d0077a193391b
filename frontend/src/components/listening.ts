/** Listeners of one element, all taken away together. */

type Listen = <Type extends keyof HTMLElementEventMap>(
  type: Type,
  handle: (event: HTMLElementEventMap[Type]) => void,
) => void;

/** `on` adds a listener that may keep the browser from what it would do; `stop` ends them all. */
export function listening(element: HTMLElement): {
  readonly on: Listen;
  readonly stop: () => void;
} {
  const ended = new AbortController();
  return {
    on: (type, handle) =>
      element.addEventListener(type, handle, { signal: ended.signal, passive: false }),
    stop: () => ended.abort(),
  };
}
