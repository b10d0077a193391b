/** A moment of the recording in words: by step and time where there are such, else by event. */

import { count, moment } from "../format";

export interface Moment {
  event: number | null;
  time: number | null;
  step: number | null;
}

/** `step 0, +410 ms`; `event 1 234` without steps and time stamps. */
export function momentWords({ event, time, step }: Moment): string {
  const words: string[] = [];
  if (step !== null && step >= 0) words.push(`step\u00a0${count(step)}`);
  // Since the recording's origin, as on the chart's axis, so that devices can be compared.
  if (time !== null) words.push(moment(time, 0));
  if (words.length > 0) return words.join(", ");
  if (event === null) return "–";
  return event < 0 ? "the start" : `event\u00a0${count(event)}`;
}
