/** Reads and writes the address bar above the page: TensorBoard's when framed, else our own. */

/** The frame whose address a user sees and sends; null if it is another site's. */
export function addressFrame(frame: Window): Window | null {
  try {
    // Throws for a parent of another origin.
    void frame.parent.location.hash;
    return frame.parent;
  } catch {
    return null;
  }
}

export const currentHash = (frame: Window): string | null =>
  addressFrame(frame)?.location.hash ?? null;

/** Changes the hash without a new entry in the history, so that "back" leaves the page. */
export function replaceHash(frame: Window, hash: string): void {
  change(frame, hash, (history, url) => history.replaceState(history.state, "", url));
}

/** Changes the hash with a new entry in the history, so that "back" leads to what was there. */
export function pushHash(frame: Window, hash: string): void {
  change(frame, hash, (history, url) => history.pushState(history.state, "", url));
}

function change(frame: Window, hash: string, put: (history: History, url: string) => void): void {
  const target = addressFrame(frame);
  if (!target || target.location.hash === hash) return;
  const { pathname, search } = target.location;
  put(target.history, `${pathname}${search}${hash}`);
}

export function onHashChange(frame: Window, heard: (hash: string) => void): () => void {
  const target = addressFrame(frame);
  if (!target) return () => undefined;
  const listener = (): void => heard(target.location.hash);
  target.addEventListener("hashchange", listener);
  return () => target.removeEventListener("hashchange", listener);
}
