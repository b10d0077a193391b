/** The life of the selected allocation as a range of the axis. */

import type { AllocationCard, Axis } from "../api";
import { card } from "../flow/questions";
import { isPlan, selection } from "../state";
import { pointedLife } from "../state/pointed";
import type { Range } from "./scale";

export interface Life extends Range {
  /** Whether it was seen to begin and to end in the recording. */
  readonly isBorn: boolean;
  readonly isDead: boolean;
  /** Bytes that it is drawn as high as; without them there is its bar only. */
  readonly bytes?: number;
}

/** Null while nothing is selected or nothing is known of it. */
export function lifeOf(axis: Axis, whole: Range): Life | null {
  const chosen = selection.value;
  const known = card.value.data;
  if (chosen?.kind !== "allocation" || known === null || String(known.id) !== chosen.id)
    return null;
  const life = rangeOf(known, axis, whole);
  // Of a plan there is little enough at once for its height to be told.
  return life && isPlan.value ? { ...life, bytes: known.size ?? 0 } : life;
}

/** The life of the buffer that is pointed at elsewhere; null while none is. */
export function pointedRange(whole: Range): Life | null {
  const found = pointedLife.value;
  if (found === null || !isPlan.value) return null;
  const { birth, death, bytes } = found;
  return {
    begin: birth ?? whole.begin,
    end: death ?? whole.end,
    isBorn: birth !== null,
    isDead: death !== null,
    bytes,
  };
}

/** What lies over the curve: the life that is pointed at elsewhere, else the selected one. */
export const shownLife = (axis: Axis, whole: Range): Life | null =>
  pointedRange(whole) ?? lifeOf(axis, whole);

export function rangeOf(card: AllocationCard, axis: Axis, whole: Range): Life | null {
  const [first, last] =
    axis === "event" ? [card.birth, card.death] : [card.birth_time, card.death_time];
  const isBorn = !card.before_window && first !== null;
  const isDead = card.death !== null && last !== null;
  const begin = isBorn ? (first as number) : whole.begin;
  const end = isDead ? (last as number) : whole.end;
  return end < begin ? null : { begin, end, isBorn, isDead };
}
