/** The worker that decodes tiles and draws pictures, so that the page stays free to follow the hand. */

import { decodeTile } from "./decode";
import type { FromWorker, Order, ToWorker } from "./messages";
import { paint } from "./paint";
import { coloursOf } from "./palette";
import { fill, type Raster } from "./raster";
import { buffersOf, type Tile } from "./tile";

/** What a worker's global scope has; the DOM's types and a worker's cannot be loaded together. */
interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: Transferable[]): void;
}

const scope = globalThis as unknown as Scope;
const tiles = new Map<string, Tile>();
/** The last layout: with other colours it is painted again as it is. */
let last: { readonly key: string; readonly raster: Raster } | null = null;
let pixels = new Int32Array(0); // so that a picture after the other needs no new ones

scope.onmessage = ({ data }) => {
  if (data.kind === "tile") take(data.key, data.body);
  else if (data.kind === "forget") for (const key of data.keys) tiles.delete(key);
  else {
    draw(data.order, data.number).catch((error: unknown) => {
      scope.postMessage({ kind: "undrawn", number: data.number, words: String(error) }, []);
    });
  }
};

function take(key: string, body: ArrayBuffer): void {
  try {
    const tile = decodeTile(new Uint8Array(body));
    tiles.set(key, tile);
    // The page gets a copy: it answers for what is under the pointer.
    const copy = structuredClone(tile);
    scope.postMessage({ kind: "tile", key, tile: copy }, buffersOf(copy));
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: "unread", key, words }, []);
  }
}

async function draw(order: Order, number: number): Promise<void> {
  const began = performance.now();
  const { width, height } = order.view;
  const shown = order.keys.map((key) => tiles.get(key) as Tile);
  const raster = layOut(order, shown);
  const colours = coloursOf(shown, raster.numbers, order.palette, raster.sheet.scale);
  if (pixels.length !== width * height) pixels = new Int32Array(width * height);
  paint(raster.sheet, colours, pixels);
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), height, width);
  const bitmap = await createImageBitmap(image);
  const runs = raster.sheet.copy();
  const took = performance.now() - began;
  const buffers = [runs.from, runs.to, runs.ids, runs.ends].map(({ buffer }) => buffer);
  const { chosen } = raster;
  scope.postMessage({ kind: "drawn", number, bitmap, runs, chosen, took }, [bitmap, ...buffers]);
}

function layOut({ keys, parts, view }: Order, shown: readonly Tile[]): Raster {
  const key = JSON.stringify([keys, parts, view]);
  if (last?.key === key) return last.raster;
  last = { key, raster: fill(shown, parts, view, last?.raster.sheet) };
  return last.raster;
}
