/** A moment of the recording in words: by step and time where there are such, else by event. */

import { count, moment } from "../format";
import { device } from "./recording";

export interface Moment {
  event: number | null;
  time: number | null;
  step: number | null;
}

/** `step 0, +410 ms`; `event 1 234` without steps and time stamps. */
export function momentWords({ event, time, step }: Moment): string {
  const words: string[] = [];
  if (step !== null && step >= 0) words.push(`step\u00a0${count(step)}`);
  const begin = device.value?.begin_time ?? null;
  if (time !== null && begin !== null) words.push(moment(time, begin));
  if (words.length > 0) return words.join(", ");
  if (event === null) return "–";
  return event < 0 ? "at the start" : `event\u00a0${count(event)}`;
}
