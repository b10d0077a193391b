/** Segments laid out in lines of a common scale, group by group: which pixel is which byte. */

import type { SegmentRows } from "../../../api";

/** Height of a line and of the heading above a group, and the air between segments, in pixels. */
export const LINE = 22;
export const HEAD = 24;
export const GAP = 3;
/** A segment is never narrower than this, whatever the scale. */
const NARROWEST = 3;

/** Where segments are. A segment that is longer than a line goes on in the next ones. */
export interface Layout {
  readonly width: number;
  /** Bytes that a whole line stands for. */
  readonly lineBytes: number;
  readonly height: number;
  /** Of every segment: its first line's top, its left edge there, and how many lines it takes. */
  readonly top: Float64Array;
  readonly left: Float64Array;
  readonly lines: Float64Array;
  /** Headings: the group and the top of its line. */
  readonly heads: readonly { readonly group: number; readonly top: number }[];
}

/** A place in a segment. */
export interface Place {
  readonly segment: number;
  readonly offset: number;
}

/** Part of a segment that lies on one line. */
export interface Strip {
  readonly from: number;
  readonly to: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export function layOut(segments: SegmentRows, width: number, lineBytes: number): Layout {
  const top = new Float64Array(segments.length);
  const left = new Float64Array(segments.length);
  const lines = new Float64Array(segments.length);
  const heads: { group: number; top: number }[] = [];
  let group = -1;
  let y = 0;
  let x = 0;
  let isOpen = false;
  const newLine = (): void => {
    if (isOpen) y += LINE;
    isOpen = true;
    x = 0;
  };
  for (let row = 0; row < segments.length; row++) {
    if (segments.group[row] !== group) {
      group = segments.group[row] as number;
      if (isOpen) y += LINE;
      isOpen = false;
      heads.push({ group, top: y });
      y += HEAD;
    }
    const size = segments.size[row] as number;
    const wide = Math.max(NARROWEST, (size / lineBytes) * width);
    if (!isOpen || x + wide > width) newLine();
    top[row] = y;
    left[row] = x;
    lines[row] = Math.max(1, Math.ceil(size / lineBytes));
    if ((lines[row] as number) > 1) {
      // It fills whole lines; the next one begins on a line of its own.
      y += ((lines[row] as number) - 1) * LINE;
      x = width;
    } else x += wide + GAP;
  }
  return { width, lineBytes, height: y + (isOpen ? LINE : 0), top, left, lines, heads };
}

/** First segment that reaches below `y`. */
export function firstBelow(layout: Layout, y: number): number {
  let low = 0;
  let high = layout.top.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const bottom = (layout.top[middle] as number) + (layout.lines[middle] as number) * LINE;
    if (bottom > y) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The parts of a segment on lines between `above` and `below`, in pixels of the whole map. */
export function stripsOf(
  layout: Layout,
  segments: SegmentRows,
  row: number,
  above = 0,
  below = Number.POSITIVE_INFINITY,
): Strip[] {
  const size = segments.size[row] as number;
  const [top, lines] = [layout.top[row] as number, layout.lines[row] as number];
  const first = Math.max(0, Math.floor((above - top) / LINE));
  const last = Math.min(lines - 1, Math.floor((below - top) / LINE));
  const found: Strip[] = [];
  for (let line = first; line <= last; line++) {
    const from = line * layout.lineBytes;
    const to = Math.min(size, from + layout.lineBytes);
    const wide = ((to - from) / layout.lineBytes) * layout.width;
    const width = lines === 1 ? Math.max(NARROWEST, wide) : wide;
    found.push({ from, to, x: layout.left[row] as number, y: top + line * LINE, width });
  }
  return found;
}

/** The segment and the byte in it at a pixel of the map; null beside all segments. */
export function placeAt(layout: Layout, segments: SegmentRows, x: number, y: number): Place | null {
  for (let row = firstBelow(layout, y); row < segments.length; row++) {
    if ((layout.top[row] as number) > y) return null;
    for (const strip of stripsOf(layout, segments, row, y, y)) {
      if (x < strip.x || x >= strip.x + strip.width) continue;
      const share = (x - strip.x) / strip.width;
      const offset = Math.floor(strip.from + share * (strip.to - strip.from));
      return { segment: row, offset: Math.min(offset, strip.to - 1) };
    }
  }
  return null;
}

/** The top of the line that a byte of a segment is on. */
export function topOf(layout: Layout, { segment, offset }: Place): number {
  return (layout.top[segment] as number) + Math.floor(offset / layout.lineBytes) * LINE;
}

/**
 * Where to scroll, from `from`, so that the line at `y` is among the `seen` pixels in view: no further
 * than there is something, since a box can be scrolled no further.
 */
export function scrollTo(layout: Layout, y: number, from: number, seen: number): number {
  const most = Math.max(0, layout.height - seen);
  if (y < from) return Math.min(Math.max(0, y - HEAD), most);
  return y + LINE > from + seen ? Math.min(y + 2 * LINE - seen, most) : from;
}

/** The part of the line of all segments that lies between two heights: what to ask for in detail. */
export function lineBetween(
  layout: Layout,
  segments: SegmentRows,
  above: number,
  below: number,
): { begin: number; end: number } | null {
  let begin = Number.POSITIVE_INFINITY;
  let end = 0;
  for (let row = firstBelow(layout, above); row < segments.length; row++) {
    if ((layout.top[row] as number) > below) break;
    const place = segments.place[row] as number;
    for (const { from, to } of stripsOf(layout, segments, row, above, below)) {
      begin = Math.min(begin, place + from);
      end = Math.max(end, place + to);
    }
  }
  return end > 0 ? { begin, end } : null;
}
