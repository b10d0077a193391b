/** What is free under the pointer in the address layout: asked of the server, which knows it to the byte. */

import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { type FreeAnswer, getHole, type Target } from "../api";
import type { View } from "../drawing/sheet";
import { target } from "../flow/questions";
import { lookUp } from "../timeline/resting";
import type { Pointed } from "./pointing";

const holeOf = lookUp(({ source, version, device }, id, abort) => {
  const [at, place, pixel] = id.split(" ").map(Number) as [number, number, number];
  return getHole({ source, version, device, at, place, pixel }, abort);
});

interface Known {
  readonly of: Target | null;
  readonly answer: FreeAnswer;
}

/** What is known of the place pointed at; null where it is not of use, or not there yet. */
export function useFree(
  pointed: ReadonlySignal<Pointed | null>,
  view: () => View | null,
): ReadonlySignal<FreeAnswer | null> {
  const known = useSignal<Known | null>(null);
  const asked = useComputed(() => questionOf(pointed.value, view()));
  useSignalEffect(() => {
    const of = target.value;
    const last = known.peek();
    // Within one hole the answer stays the same.
    if (last !== null && last.of === of && isIn(last.answer, asked.value)) return undefined;
    return holeOf(asked.value, (answer) => {
      known.value = answer === null ? null : { of, answer };
    });
  });
  return useComputed(() => known.value?.answer ?? null);
}

/** Event, place and bytes of the pixel pointed at; null where nothing is to be asked. */
export function questionOf(pointed: Pointed | null, view: View | null): string | null {
  if (pointed === null || view === null || !pointed.isHeld) return null;
  const scale = (view.high - view.low) / view.height;
  const row = Math.floor((pointed.spot.bytes - view.low) / scale);
  const begin = Math.max(0, Math.floor(view.low + row * scale));
  const end = Math.max(begin + 1, Math.ceil(view.low + (row + 1) * scale));
  return `${pointed.tile.columns.event[pointed.column]} ${begin} ${end - begin}`;
}

/** Whether the pixel asked about lies wholly in the hole that is known. */
export function isIn({ event, hole }: FreeAnswer, asked: string | null): boolean {
  if (hole === null || asked === null) return false;
  const [at, place, pixel] = asked.split(" ").map(Number) as [number, number, number];
  return at === event && hole.place <= place && place + pixel <= hole.place + hole.size;
}
