/** A rectangle drawn over the picture, and the part of it that it asks to see. */

import type { Spot } from "../picture/pointing";
import type { Point } from "../timeline/model";
import { brushedWindow, type Range } from "../timeline/scale";
import type { Area } from "./model";

/** Pixels a drag may stray and still be meant for the other direction alone. */
const STRAIGHT = 12;

/** The area between two points: of both directions, or of one that the hand kept to. */
export function areaBetween(
  from: Point,
  to: Point,
  spots: { readonly from: Spot; readonly to: Spot },
  whole: Range,
  tall: Range,
): Area {
  const [across, up] = [Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
  const isFlat = up < STRAIGHT && across >= up;
  const isSteep = across < STRAIGHT && up > across;
  return {
    window: isSteep ? null : brushedWindow(spots.from.at, spots.to.at, whole),
    bytes: isFlat ? null : brushedWindow(spots.from.bytes, spots.to.bytes, tall),
  };
}
