/** Windows of time on a clock that several hosts share, to the nanosecond. */

import type { Summary } from "../api";
import type { Window } from "../state/view";

/** A window in ns since 1970, which no number can tell exactly. */
export interface Clocked {
  begin: bigint;
  end: bigint;
}

type Timed = Pick<Summary, "meta" | "time_origin">;

/** When a recording's times count from; null where that is not a clock of others too. */
const originOf = ({ meta, time_origin: origin }: Timed): bigint | null =>
  meta.clock === "unix" && origin ? BigInt(origin) : null;

/** A window since a recording's origin on the shared clock. */
export function onClock(window: Window | null, recording: Timed | null): Clocked | null {
  const origin = recording && originOf(recording);
  if (!window || origin === null) return null;
  return {
    begin: origin + BigInt(Math.round(window.begin)),
    end: origin + BigInt(Math.round(window.end)),
  };
}

/** The same since another recording's origin, within `everything` it has; null where it has none of it. */
export function sinceOrigin(
  { begin, end }: Clocked,
  recording: Timed,
  everything: Window,
): Window | null {
  const origin = originOf(recording);
  if (origin === null) return null;
  const found = {
    begin: Math.max(Number(begin - origin), everything.begin),
    end: Math.min(Number(end - origin), everything.end),
  };
  return found.begin < found.end ? found : null;
}
