/** Going to a span: it is selected, and the window is where it is seen. */

import { batch } from "@preact/signals";
import type { TraceSpan } from "../api";
import { axis, range, selection } from "../state/view";

/** A window may be so many times as wide as a span that is gone to. */
const WIDEST = 400;
/** How many times as wide as that it becomes. */
const ROOM = 12;

/** Selects a span and moves the window to it where time is the axis; `closer`: until it can be seen. */
export function goToSpan(span: TraceSpan, closer = false): void {
  batch(() => {
    selection.value = { kind: "span", id: span.id };
    const shown = range.peek();
    if (axis.peek() !== "time") return;
    const length = Math.max(span.end - span.begin, 1);
    const isTiny = closer && (shown === null || shown.end - shown.begin > WIDEST * length);
    const size = isTiny ? ROOM * length : shown === null ? null : shown.end - shown.begin;
    if (size === null) return;
    const isSeen = shown !== null && span.begin >= shown.begin && span.end <= shown.end;
    if (isSeen && !isTiny) return;
    // Of one that is wider than the window its beginning is shown.
    const middle = length > size ? span.begin + size * 0.4 : (span.begin + span.end) / 2;
    const begin = Math.floor(middle - size / 2);
    range.value = { begin, end: begin + Math.max(Math.ceil(size), 2) };
  });
}
