/** What bookmarks are called, and how one comes to them. */

import { duration, moment } from "../../../format";
import type { Bookmark } from "../../../state/trace";
import { range } from "../../../state/view";
import type { Model as Timeline } from "../../../timeline/model";
import { span } from "../../../timeline/scale";

type Times = Pick<Bookmark, "begin" | "end">;

export const isMoment = ({ begin, end }: Times): boolean => end - begin === 1;

/** `+1.25 s`, `+1.25 s, 40.0 ms`. */
export function wordsOf(of: Times): string {
  const from = moment(of.begin, 0);
  return isMoment(of) ? from : `${from}, ${duration(of.end - of.begin)}`;
}

/** To the window, or to the moment in the middle of one as wide as this. */
export function jump(timeline: Timeline, bookmark: Bookmark): void {
  const { begin, end } = bookmark;
  if (!isMoment(bookmark)) {
    range.value = { begin, end };
    return;
  }
  const size = span(timeline.window.peek());
  timeline.setWindow({ begin: begin - size / 2, end: begin + size / 2 });
}
