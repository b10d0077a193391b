/** The brushed range carried from one axis to the other, where something knows both. */

import { signal } from "@preact/signals";
import type { Axis } from "../api/types";
import { axis, range, type Window } from "./view";

/**
 * Set by whoever has both axes at hand (the timeline's series): a range of the present axis in
 * units of the other. Null while nobody knows; the range is then given up.
 */
export const converter = signal<((window: Window) => Window | null) | null>(null);

export function convertRange(next: Axis): Window | null {
  if (!range.value || next === axis.value) return range.value;
  return converter.value?.(range.value) ?? null;
}
