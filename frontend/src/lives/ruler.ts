/** What lies between two points of the picture, in words. */

import type { Axis } from "../api";
import { duration, grouped, signedBytes } from "../format";
import type { Ruler } from "./model";

/** `Δ 12.3 ms`, `Δ 120 events`. */
export function acrossWords({ from, to }: Ruler, axis: Axis): string {
  const length = Math.abs(to.at - from.at);
  if (axis === "time") return `Δ ${duration(length)}`;
  const events = Math.round(length);
  return `Δ ${grouped(events)} ${events === 1 ? "event" : "events"}`;
}

/** `Δ +1.20 GiB`: from the first point to the second. */
export const upWords = ({ from, to }: Ruler): string =>
  `Δ ${signedBytes(Math.round(to.bytes - from.bytes))}`;
