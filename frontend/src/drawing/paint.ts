/** Runs of a picture made into pixels. */

import type { Colours } from "./palette";
import { MARKED, OPAQUE } from "./palette";
import type { Sheet } from "./sheet";
import { LOWEST, UNKNOWN } from "./things";

/** Pixels of the line inside the edge of the selected one. */
const LINE = 2;
/** Pixels from one slanting line to the next. */
const HATCH = 8;
/** Pixels from which on the engine's own filling is quicker than a loop. */
const LONG = 32;

/** Runs of marked things, each with the column that it is in. */
interface Marks {
  readonly columns: number[];
  readonly runs: number[];
}

/**
 * The pixels of a picture in the order of its columns, each from the bottom up: it lies on its side.
 * Turning it round here would cost more than all the rest, and the browser does it for nothing. What
 * is not known is left see-through.
 */
export function paint(
  sheet: Sheet,
  colours: Colours,
  pixels = new Int32Array(sheet.width * sheet.height),
): Int32Array {
  const { from, to, ids, ends, width, height } = sheet;
  const { shades } = colours;
  const marks: Marks = { columns: [], runs: [] };
  // Constants of this function: those of another module are looked up anew for every run where
  // modules are not bundled.
  const [lowest, opaque, unknown] = [LOWEST, OPAQUE, UNKNOWN];
  /** Marks before the column that was painted last. */
  let before = 0;
  for (let x = 0; x < width; x++) {
    const base = x * height;
    if (x > 0 && from[x] === from[x - 1]) {
      pixels.copyWithin(base, base - height, base);
      before = again(marks, before, x);
      continue;
    }
    before = marks.runs.length;
    let at = base;
    const last = to[x] as number;
    for (let run = from[x] as number; run < last; run++) {
      const shade = 2 * ((ids[run] as number) - lowest);
      const colour = shades[shade] as number;
      const edge = shades[shade + 1] as number;
      const end = base + (ends[run] as number) - 1;
      // Most are a pixel or two tall, and are done with this.
      pixels[at] = colour;
      pixels[end] = edge;
      if (end - at > LONG) pixels.fill(colour, at, end);
      else for (at += 1; at < end; at++) pixels[at] = colour;
      at = end + 1;
      // What is not known has no edge, and nothing to be marked.
      if ((edge & opaque) === opaque || ids[run] === unknown) continue;
      marks.columns.push(x);
      marks.runs.push(run);
    }
  }
  if (marks.runs.length > 0) mark(sheet, colours, marks, pixels);
  return pixels;
}

/** The marks of the column before, found from `before` on, in column `x` too; answers where those begin. */
function again({ columns, runs }: Marks, before: number, x: number): number {
  const end = runs.length;
  for (let at = before; at < end; at++) {
    columns.push(x);
    runs.push(runs[at] as number);
  }
  return end;
}

/**
 * A line inside the selected one's edge, over all columns of its life; slanting ones over siblings, and
 * the other way, paler, over what is there all the time.
 */
function mark(sheet: Sheet, colours: Colours, { columns, runs }: Marks, pixels: Int32Array): void {
  const { from, ids, ends, width, height } = sheet;
  const { selected, outline, shades, background } = colours;
  /** Where each column shows the selected one; nowhere as a rule. */
  const low = new Int32Array(width);
  const high = new Int32Array(width);
  runs.forEach((run, at) => {
    const x = columns[at] as number;
    const begin = run === from[x] ? 0 : (ends[run - 1] as number);
    const end = ends[run] as number;
    const top = x * height + end - 1;
    pixels[top] = (pixels[top] as number) | OPAQUE;
    const id = ids[run] as number;
    const base = x * height;
    if (selected.has(id)) [low[x], high[x]] = [begin, end];
    else if ((shades[2 * (id - LOWEST) + 1] as number) >>> 24 === MARKED) {
      for (let y = lineAt(begin, -x); y < end; y += HATCH) pixels[base + y] = outline;
    } else {
      for (let y = lineAt(begin, x); y < end; y += HATCH)
        pixels[base + y] = halfway(pixels[base + y] as number, background);
    }
  });
  for (let x = 0; x < width; x++) {
    for (let y = low[x] as number; y < (high[x] as number); y++) {
      if (isRim(low, high, height, x, y)) pixels[x * height + y] = outline;
    }
  }
}

/** The first pixel from `begin` up that one of the lines through `place` and every so many is on. */
const lineAt = (begin: number, place: number): number =>
  begin + ((((place - begin) % HATCH) + HATCH) % HATCH);

/** The mean of two colours, channel by channel. */
const halfway = (one: number, other: number): number =>
  (((one ^ other) & 0xfefefefe) >>> 1) + (one & other);

/** Whether the selected one ends within a line's width; where the picture cuts it off it does not. */
function isRim(low: Int32Array, high: Int32Array, height: number, x: number, y: number): boolean {
  for (let off = 1; off <= LINE; off++) {
    for (const [column, pixel] of [
      [x, y - off],
      [x, y + off],
      [x - off, y],
      [x + off, y],
    ] as const) {
      const isInPicture = column >= 0 && column < low.length && pixel >= 0 && pixel < height;
      const isOutside = pixel < (low[column] as number) || pixel >= (high[column] as number);
      if (isInPicture && isOutside) return true;
    }
  }
  return false;
}
