/** The life of an allocation in words, and as a range of the axis to zoom to. */

import type { AllocationCard, Axis, SpanCard } from "../api";
import { duration, grouped } from "../format";
import type { Moment } from "../state/moment";
import { hasHistory } from "../state/recording";
import { say } from "../state/say";
import type { Window } from "../state/view";

type Life = Pick<
  AllocationCard,
  "birth" | "death" | "birth_time" | "death_time" | "step" | "before_window"
>;

/** `step 0, +0.31 s → +0.62 s, 310 ms`; what lies outside the recorded window is said. */
export function lifeWords(life: Life, words: (moment: Moment) => string): string {
  // Of one moment nobody knows more.
  if (life.before_window && life.death === null && !hasHistory.value)
    return say("alive at the end");
  const born = life.before_window
    ? "before the window"
    : words({ event: life.birth, time: life.birth_time, step: life.step });
  const died =
    life.death === null
      ? "not freed in the window"
      : words({ event: life.death, time: life.death_time, step: null });
  const length =
    life.birth_time !== null && life.death_time !== null && !life.before_window
      ? `, ${duration(life.death_time - life.birth_time)} long`
      : "";
  return `${born} → ${died}${length}`;
}

/** `event 12 to event 40 of the program`; what is held all the time has no such end. */
export function programLife(birth: number | null, death: number | null): string {
  const from = birth === null || Number.isNaN(birth);
  const to = death === null || Number.isNaN(death);
  if (from && to) return "the whole program";
  const begin = from ? "the start" : `event ${grouped(birth)}`;
  const end = to ? "the end" : `event ${grouped(death)}`;
  return `${begin} to ${end} of the program`;
}

const MARGIN = 0.1;

/** The range that shows a life with a margin, inside what there is; null where nothing is known. */
export function lifeRange(life: Life, axis: Axis, everything: Window): Window | null {
  const [first, last] =
    axis === "event" ? [life.birth, life.death] : [life.birth_time, life.death_time];
  const begin = life.before_window ? everything.begin : (first ?? everything.begin);
  const end = last ?? everything.end;
  if (end < begin) return null;
  const margin = Math.max(1, Math.round((end - begin) * MARGIN));
  return {
    begin: Math.max(everything.begin, begin - margin),
    end: Math.min(everything.end, end + margin),
  };
}

/** The range that a step or an annotation takes, exactly; null where it holds no event. */
export function spanRange(
  card: Pick<SpanCard, "begin" | "end" | "first" | "stop">,
  axis: Axis,
  everything: Window,
): Window | null {
  const [first, last] = axis === "event" ? [card.first, card.stop] : [card.begin, card.end];
  const begin = Math.max(first ?? everything.begin, everything.begin);
  const end = Math.min(last ?? everything.end, everything.end);
  return begin < end ? { begin, end } : null;
}

/** The window as it is where `place` is in it, else moved so that it is in the middle. */
export function around(shown: Window, place: number, everything: Window): Window {
  if (place >= shown.begin && place < shown.end) return shown;
  const length = shown.end - shown.begin;
  const latest = Math.max(everything.begin, everything.end - length);
  const begin = Math.round(Math.min(Math.max(place - length / 2, everything.begin), latest));
  return { begin, end: begin + length };
}
