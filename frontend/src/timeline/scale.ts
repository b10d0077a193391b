/** Linear maps between axis values and pixels, and the arithmetic of zooming and panning a window. */

/** A half-open range of an axis, in its units (events or nanoseconds). */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** The narrowest window one can zoom to, in axis units: two events, or two nanoseconds. */
export const NARROWEST = 2;

export function span(range: Range): number {
  return range.end - range.begin;
}

export function sameRange(a: Range, b: Range): boolean {
  return a.begin === b.begin && a.end === b.end;
}

/** Pixel of an axis value when `range` fills `width` pixels. */
export function toPixel(range: Range, width: number, value: number): number {
  return ((value - range.begin) / (range.end - range.begin)) * width;
}

/** Axis value at a pixel; the inverse of `toPixel`. */
export function toValue(range: Range, width: number, pixel: number): number {
  return range.begin + (pixel / width) * (range.end - range.begin);
}

/** The window inside `whole`, moved rather than cut where it sticks out, never narrower than two units. */
export function clampWindow(window: Range, whole: Range): Range {
  const room = span(whole);
  const size = Math.min(Math.max(span(window), NARROWEST), room);
  if (size >= room) return whole;
  const begin = Math.min(Math.max(window.begin, whole.begin), whole.end - size);
  return { begin, end: begin + size };
}

/** Zoom by `factor` (below 1 is closer), leaving the value `at` under the same pixel. */
export function zoomWindow(window: Range, whole: Range, at: number, factor: number): Range {
  const size = span(window);
  const next = Math.min(Math.max(size * factor, NARROWEST), span(whole));
  const share = (at - window.begin) / size;
  const begin = at - share * next;
  return clampWindow({ begin, end: begin + next }, whole);
}

/** The window moved by `delta` axis units, stopping at the ends of `whole`. */
export function panWindow(window: Range, whole: Range, delta: number): Range {
  return clampWindow({ begin: window.begin + delta, end: window.end + delta }, whole);
}

/** The window between two axis values in either order, as a brush leaves them. */
export function brushedWindow(a: number, b: number, whole: Range): Range {
  const begin = Math.min(a, b);
  const end = Math.max(a, b);
  if (end - begin >= NARROWEST) return clampWindow({ begin, end }, whole);
  const middle = (begin + end) / 2;
  return clampWindow({ begin: middle - NARROWEST / 2, end: middle + NARROWEST / 2 }, whole);
}

/** The window in whole units around it, as links carry it. */
export function roundWindow(window: Range): Range {
  return { begin: Math.floor(window.begin), end: Math.ceil(window.end) };
}
