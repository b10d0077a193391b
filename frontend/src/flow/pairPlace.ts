/** What stays of a link in a recording of the same allocations, but with other spans around them. */

import type { Link } from "./link";
import { bookmarksOf, bookmarksText } from "./traceLink";

/** Without what goes by numbers of spans and tracks: there, these are of others. */
export function withoutSpans(link: Link): Link {
  const { steps: _steps, area: _area, tracks: _tracks, selection, ...rest } = link;
  return selection && selection.kind !== "span" ? { ...rest, selection } : rest;
}

/** The same moments since another origin; both are ns since a clock began, null where none is known. */
export function sinceAnother(
  link: Link,
  before: string | null,
  now: string | null,
  axis: "time" | "event",
): Link {
  if (before === null || now === null) return link;
  const later = Number(BigInt(before) - BigInt(now));
  const moved = <Part extends { begin: number; end: number }>(part: Part): Part => ({
    ...part,
    begin: part.begin + later,
    end: part.end + later,
  });
  const { window, marks } = link;
  return {
    ...link,
    ...(window && axis === "time" && { window: moved(window) }),
    ...(marks && { marks: bookmarksText(bookmarksOf(marks).map(moved)) }),
  };
}
