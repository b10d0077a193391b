/** A list of any length in a box that scrolls: browsers cut heights off at some ten million pixels. */

/** Pixels of a row. */
export const ROW = 22;
/** As high as the scrolled content is ever made. */
const HIGHEST = 8_000_000;

export interface Scaling {
  /** Height of the scrolled content, in pixels. */
  readonly height: number;
  /** The last row that may stand at the top; rows are counted with their fractions. */
  readonly last: number;
  /** The last scroll position. */
  readonly reach: number;
}

export function scalingFor(count: number, seen: number): Scaling {
  const height = Math.max(seen, Math.min(count * ROW, HIGHEST));
  return { height, last: Math.max(0, count - seen / ROW), reach: height - seen };
}

/** The row at the top of the box, with its fraction, at a scroll position. */
export function topAt({ last, reach }: Scaling, scroll: number): number {
  return reach <= 0 ? 0 : (Math.min(Math.max(scroll, 0), reach) / reach) * last;
}

/** The scroll position at which `top` is the row at the top. */
export function scrollFor({ last, reach }: Scaling, top: number): number {
  return last <= 0 ? 0 : (Math.min(Math.max(top, 0), last) / last) * reach;
}

/** The top row that brings `row` into view: with the least movement, or from afar in the middle. */
export function topToSee({ last }: Scaling, top: number, seen: number, row: number): number {
  const rows = seen / ROW;
  if (row < top - rows || row > top + 2 * rows) return Math.min(Math.max(0, row - rows / 2), last);
  if (row < top) return Math.max(0, row);
  if (row + 1 > top + rows) return Math.min(last, row + 1 - rows);
  return top;
}

/** Rows asked for at a time; the chunks that the rows from `top` on lie in. */
export const CHUNK = 200;

export function chunksFor(top: number, seen: number, count: number): number[] {
  const first = Math.floor(Math.max(0, top) / CHUNK);
  const last = Math.floor(Math.min(count - 1, top + seen / ROW) / CHUNK);
  const found: number[] = [];
  for (let chunk = first; chunk <= last; chunk++) found.push(chunk);
  return found;
}
