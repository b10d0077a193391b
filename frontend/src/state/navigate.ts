/** Zooming and panning as arithmetic on ranges; both stay inside everything there is. */

import type { Window } from "./view";

/** The range zoomed by `factor` (< 1 is closer) about `anchor`; null where it shows everything. */
export function zoomed(
  shown: Window,
  everything: Window,
  factor: number,
  anchor = (shown.begin + shown.end) / 2,
): Window | null {
  const span = Math.max(1, (shown.end - shown.begin) * factor);
  const share = (anchor - shown.begin) / (shown.end - shown.begin);
  return inside(anchor - span * share, span, everything);
}

/** The range moved by a share of its own length. */
export function panned(shown: Window, everything: Window, share: number): Window | null {
  const span = shown.end - shown.begin;
  return inside(shown.begin + span * share, span, everything);
}

function inside(begin: number, span: number, everything: Window): Window | null {
  const whole = everything.end - everything.begin;
  const length = Math.round(span);
  if (length >= whole) return null;
  const latest = everything.end - length;
  const start = Math.round(Math.min(Math.max(begin, everything.begin), latest));
  return { begin: start, end: start + length };
}
