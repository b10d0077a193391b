/** What the picture is asked of: everything about a tile but its place. */

import type { Axis, Target } from "../api";
import { address } from "../api";
import type { Layout, Only } from "../state";
import { TOP } from "../timeline/load";
import type { Place, Shape } from "./grid";

export interface Question extends Target {
  /** What is stacked; allocations where it is not said. */
  readonly of?: "segments";
  readonly layout: Layout;
  readonly axis: Axis;
  readonly by: string;
  readonly pattern: string;
  readonly only: Only;
  /** The moment that `alive` is about; null for the others. */
  readonly at: number | "peak" | null;
  readonly minimum: number;
  /** Only what passes is in the picture; what is found stands out of it. */
  readonly filter: string;
  readonly find: string;
}

/** Where a tile is had from; also the name it is kept under. */
export function tileAddress(question: Question, place: Place, shape: Shape): string {
  const { minimum, only, filter, ...asked } = question;
  return address("tile", {
    ...asked,
    top: TOP,
    only: only === "all" ? null : only,
    minimum: minimum > 0 ? minimum : null,
    filter: filter === "" ? null : filter,
    level: place.level,
    index: place.index,
    low: shape.low,
    high: shape.high,
    height: shape.height,
  });
}

export const nameOf = (question: Question): string => JSON.stringify(question);
