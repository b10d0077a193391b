/** Numbers of things made into pixels. */

import type { Colours } from "./palette";
import { PLAIN, SELECTED, SIBLING } from "./palette";
import type { Sheet } from "./sheet";
import { LOWEST } from "./things";

/** Pixels of the line inside the edge of the selected one. */
const LINE = 2;
/** Pixels from one slanting line to the next. */
const HATCH = 8;

/**
 * The pixels of a picture in the order of its numbers: column after column, each from the bottom up.
 * Turning them round here would cost more than all the rest, and the browser does it for nothing.
 * What is not known is left see-through.
 */
export function paint(
  sheet: Sheet,
  colours: Colours,
  pixels = new Int32Array(sheet.ids.length),
): Int32Array {
  const { ids, edges, edgeCount } = sheet;
  const { plain, edge } = colours;
  // A constant of this function: one of another module is looked up anew for every pixel where
  // modules are not bundled.
  const lowest = LOWEST;
  for (let at = 0; at < ids.length; at++) {
    pixels[at] = plain[(ids[at] as number) - lowest] as number;
  }
  for (let at = 0; at < edgeCount; at++) {
    const place = edges[at] as number;
    pixels[place] = edge[(ids[place] as number) - lowest] as number;
  }
  if (colours.isMarked) mark(sheet, colours, pixels);
  return pixels;
}

/** A line inside the selected one's edge, over all columns of its life; slanting ones over siblings. */
function mark({ ids, height }: Sheet, { flag, outline }: Colours, pixels: Int32Array): void {
  const [lowest, plain] = [LOWEST, PLAIN];
  for (let at = 0; at < ids.length; at++) {
    const special = flag[(ids[at] as number) - lowest] as number;
    if (special === plain) continue;
    const x = Math.floor(at / height);
    const y = at - x * height;
    if (special === SIBLING ? (x + y) % HATCH === 0 : isRim(ids, flag, height, at, y)) {
      pixels[at] = outline;
    }
  }
}

/** Whether the selected one ends within a line's width; where the picture cuts it off it does not. */
function isRim(ids: Int32Array, flag: Uint8Array, height: number, at: number, y: number): boolean {
  for (let off = 1; off <= LINE; off++) {
    const [left, right] = [at - off * height, at + off * height];
    if (y >= off && flag[(ids[at - off] as number) - LOWEST] !== SELECTED) return true;
    if (y + off < height && flag[(ids[at + off] as number) - LOWEST] !== SELECTED) return true;
    if (left >= 0 && flag[(ids[left] as number) - LOWEST] !== SELECTED) return true;
    if (right < ids.length && flag[(ids[right] as number) - LOWEST] !== SELECTED) return true;
  }
  return false;
}
