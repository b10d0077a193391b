/** What a turn of the wheel asks for, whatever the browser counts it in. */

/** Pixels of a line, for browsers that count in lines. */
const LINE = 30;
/** Pixels that one turn counts as at most, and those that double a window. */
const FARTHEST = 300;
const DOUBLES = 240;

/** How many times as large a window becomes for a turn; `turned` where it is not the usual way. */
export function wheelFactor(event: WheelEvent, turned = event.deltaY): number {
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
  return 2 ** (Math.min(Math.max(turned * lines, -FARTHEST), FARTHEST) / DOUBLES);
}
