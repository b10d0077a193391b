/** The page's side of the drawing worker: tiles go in, pictures come out. */

import type { Drawn, FromWorker, Order, ToWorker } from "./messages";
import type { Tile } from "./tile";

interface Waiting<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

export interface Studio {
  /** Hands over the body of an answer; gives it back decoded. Rejects if it is not a tile. */
  decode(key: string, body: ArrayBuffer): Promise<Tile>;
  /** Draws tiles that were decoded before and not forgotten since. */
  draw(order: Order): Promise<Drawn>;
  forget(keys: readonly string[]): void;
  /** Whether the worker has failed for good, with all that it held. */
  readonly isBroken: boolean;
}

export function openStudio(): Studio {
  // A file of its own beside this one: the platform allows no worker made from text.
  const here: string = import.meta.url;
  const worker = new Worker(new URL("drawing.js", here), { type: "module" });
  const decoding = new Map<string, Waiting<Tile>>();
  const drawing = new Map<number, Waiting<Drawn>>();
  let number = 0;
  let isBroken = false;
  const post = (message: ToWorker, transfer: Transferable[] = []) =>
    worker.postMessage(message, transfer);

  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === "tile") settle(decoding, data.key)?.resolve(data.tile);
    else if (data.kind === "unread") settle(decoding, data.key)?.reject(new Error(data.words));
    else if (data.kind === "drawn") settle(drawing, data.number)?.resolve(data);
    else settle(drawing, data.number)?.reject(new Error(data.words));
  };
  worker.onerror = () => {
    isBroken = true;
    const error = new Error("The part of the page that draws could not be started.");
    for (const waiting of [...decoding.values(), ...drawing.values()]) waiting.reject(error);
    decoding.clear();
    drawing.clear();
  };
  return {
    decode: (key, body) =>
      new Promise((resolve, reject) => {
        decoding.set(key, { resolve, reject });
        post({ kind: "tile", key, body }, [body]);
      }),
    draw: (order) =>
      new Promise((resolve, reject) => {
        number += 1;
        drawing.set(number, { resolve, reject });
        post({ kind: "draw", number, order });
      }),
    forget: (keys) => post({ kind: "forget", keys }),
    get isBroken() {
      return isBroken;
    },
  };
}

function settle<Key, Value>(waiting: Map<Key, Value>, key: Key): Value | undefined {
  const found = waiting.get(key);
  waiting.delete(key);
  return found;
}
