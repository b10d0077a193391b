/** Where tracks and their lanes lie in a panel that scrolls: a head, then a row a lane. */

import type { TraceTrack } from "../../../api";

export const HEAD = 20;
export const ROW = 17;
/** Pixels from one lane to the next, and under the last of a track. */
export const PITCH = 18;
export const BELOW = 5;
/** A track of one line: its outermost lane as a strip at the foot of its head. */
export const STRIP = 5;

export interface Placed {
  readonly track: TraceTrack;
  readonly isFolded: boolean;
  readonly isPinned: boolean;
  /** Pixels from the top of all tracks. */
  readonly top: number;
  readonly height: number;
}

/** Tracks in order, the pinned ones first, without those that are hidden. */
export function placeTracks(
  tracks: readonly TraceTrack[],
  pinned: readonly string[],
  hidden: readonly string[],
  folded: readonly string[],
): Placed[] {
  const shown = tracks.filter(({ id }) => !hidden.includes(id));
  const first = pinned.flatMap((id) => shown.filter((track) => track.id === id));
  let top = 0;
  return [...first, ...shown.filter(({ id }) => !pinned.includes(id))].map((track) => {
    const isFolded = folded.includes(track.id);
    const height = (isFolded ? HEAD : HEAD + Math.max(track.lanes, 1) * PITCH) + BELOW;
    const placed = { track, isFolded, isPinned: pinned.includes(track.id), top, height };
    top += height;
    return placed;
  });
}

export const heightOf = (placed: readonly Placed[]): number => {
  const last = placed.at(-1);
  return last === undefined ? 0 : last.top + last.height;
};

/** Share of a panel that tracks may take which stay where they are. */
const STAYING = 0.7;

/** Tracks as they are seen: pixels from the top of what is in sight. */
export interface InSight {
  /** Pinned ones that stay in sight, as many as leave room for others. */
  readonly staying: readonly Placed[];
  /** Pixels that those take; what else there is lies under them. */
  readonly edge: number;
  readonly rest: readonly Placed[];
}

/** What is seen of tracks in `size` pixels when others than the pinned are scrolled up by `scrolled`. */
export function inSight(placed: readonly Placed[], scrolled: number, size: number): InSight {
  const isStaying = ({ isPinned, top, height }: Placed) =>
    isPinned && top + height <= size * STAYING;
  const staying = placed.filter(isStaying);
  const edge = heightOf(staying);
  const moved = placed.slice(staying.length).map((each) => ({ ...each, top: each.top - scrolled }));
  return { staying, edge, rest: between(moved, edge, size) };
}

/** Tracks of which something lies between two heights. */
export const between = (placed: readonly Placed[], low: number, high: number): Placed[] =>
  placed.filter(({ top, height }) => top < high && top + height > low);

/** Top and height of a lane; of a folded track every lane is the strip. */
export function laneBox(of: Placed, depth: number): { top: number; height: number } {
  if (of.isFolded) return { top: of.top + HEAD - STRIP, height: STRIP };
  return { top: of.top + HEAD + depth * PITCH, height: ROW };
}

/** Track and depth at a height; null on a head, and where there is none. */
export function laneAt(
  { staying, edge, rest }: InSight,
  y: number,
): { track: string; depth: number } | null {
  const placed = y < edge ? staying : rest;
  const found = placed.find(({ top, height }) => y >= top && y < top + height);
  if (found === undefined) return null;
  const { track, isFolded, top } = found;
  if (isFolded) return { track: track.id, depth: 0 };
  const depth = Math.floor((y - top - HEAD) / PITCH);
  return depth >= 0 && depth < track.lanes ? { track: track.id, depth } : null;
}
