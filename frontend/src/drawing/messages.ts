/** What the page and its drawing worker say to each other. */

import type { Chosen, Part } from "./columns";
import type { Palette } from "./palette";
import type { Runs, View } from "./sheet";
import type { Tile } from "./tile";

/** A picture to draw: `keys` are the tiles that `parts` count. */
export interface Order {
  readonly keys: readonly string[];
  readonly parts: readonly Part[];
  readonly view: View;
  readonly palette: Palette;
}

export type ToWorker =
  | { readonly kind: "tile"; readonly key: string; readonly body: ArrayBuffer }
  | { readonly kind: "forget"; readonly keys: readonly string[] }
  | { readonly kind: "draw"; readonly number: number; readonly order: Order };

/** The pixels, and what they show: for the page to look up what is under the pointer. */
export interface Drawn {
  /** Lies on its side: its rows are the columns of the picture, each from the bottom up. */
  readonly bitmap: ImageBitmap;
  readonly runs: Runs;
  readonly chosen: Chosen;
  /** Milliseconds that layout and colours took. */
  readonly took: number;
}

export type FromWorker =
  | { readonly kind: "tile"; readonly key: string; readonly tile: Tile }
  | { readonly kind: "unread"; readonly key: string; readonly words: string }
  | ({ readonly kind: "drawn"; readonly number: number } & Drawn)
  | { readonly kind: "undrawn"; readonly number: number; readonly words: string };
