/** Where words fit: entries of a legend in a few lines, a label between lines of the chart. */

/** Pixels of an entry beside its words: swatch, gaps and padding. */
const AROUND = 36;
const A_LETTER = 6.4;
/** Widest an entry gets; longer words are cut with an ellipsis. */
const WIDEST = 256;
/** Pixels from a point to the middle of its label, above and below it. */
const ABOVE = 10;
const BELOW = 13;
/** Room for "+12 more". */
const MORE = 64;

/** How many of `labels`, in order, fit `lines` lines of `room` pixels; at least one. */
export function fitting(labels: readonly string[], room: number, lines: number): number {
  const widths = labels.map((label) => Math.min(AROUND + label.length * A_LETTER, WIDEST));
  const all = countFitting(widths, room, lines, 0);
  return all === labels.length ? all : Math.max(1, countFitting(widths, room, lines, MORE));
}

/** Entries that fit when the last line keeps `spare` pixels free. */
function countFitting(
  widths: readonly number[],
  room: number,
  lines: number,
  spare: number,
): number {
  let line = 0;
  let used = 0;
  let fits = 0;
  for (const [index, width] of widths.entries()) {
    if (used > 0 && used + width > room) {
      line++;
      used = 0;
    }
    if (line >= lines) return fits;
    used += width;
    if (line < lines - 1 || used + spare <= room) fits = index + 1;
  }
  return fits;
}

/**
 * Where a label beside a point at height `y` is `clear` of all `lines`: above it, or below it where
 * there is no room under `top`.
 */
export function beside(
  y: number,
  lines: readonly number[],
  clear: number,
  { top, bottom }: { readonly top: number; readonly bottom: number },
): number {
  const above = clearOf(y - ABOVE, lines, clear);
  if (above >= top) return above;
  const flipped = lines.map((line) => -line);
  const below = -clearOf(-(y + BELOW), flipped, clear);
  return below <= bottom ? below : Math.max(above, top);
}

/** The nearest height at or above `y` (pixels grow downwards) that is `clear` of all `lines`. */
export function clearOf(y: number, lines: readonly number[], clear: number): number {
  let free = y;
  for (const line of [...lines].sort((a, b) => b - a)) {
    if (Math.abs(line - free) < clear) free = line - clear;
  }
  return free;
}

/** Half the width of a mark's glyph, and some air. */
const GLYPH = 10;

/** The right end, at or left of `right`, of words `wide` that touch none of the glyphs at `marks`. */
export function leftOf(right: number, marks: readonly number[], wide: number): number {
  let end = right;
  for (const mark of [...marks].sort((a, b) => b - a)) {
    if (mark > end - wide - GLYPH && mark < end + GLYPH) end = mark - GLYPH;
  }
  return end - wide < 0 ? right : end;
}

/** Pixels between the pointer and what is said beside it. */
const BESIDE = 14;

/**
 * Left edge of a box `width` wide beside the pointer at `x`: right of it where it fits `within`, else
 * on the side with more room. Never under the pointer.
 */
export function besidePointer(x: number, width: number, within: number): number {
  const fitsRight = x + BESIDE + width <= within;
  const left = fitsRight || x < within / 2 ? x + BESIDE : x - BESIDE - width;
  // Where there is room on neither side it is over the pointer rather than cut off.
  return Math.max(0, Math.min(left, within - width));
}
