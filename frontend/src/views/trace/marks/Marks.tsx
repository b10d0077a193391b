/** Bookmarks where they are on the axis: names over the panels, and lines through all of them. */

import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type Bookmark, bookmarks } from "../../../state/trace";
import { LEFT, type Model as Timeline } from "../../../timeline/model";
import { toPixel } from "../../../timeline/scale";
import { useTransform } from "../../../timeline/useTransform";
import { isMoment, jump, wordsOf } from "./words";

/** Farther away than this from what is drawn nothing changes for the eye. */
const FARTHEST = 20_000;

/** `height`: pixels from here to the end of the panels. */
export function Marks({ timeline, height }: { timeline: Timeline; height: number }) {
  const all = bookmarks.value;
  if (all.length === 0) return null;
  return (
    <div class="trace-marks" data-body="marks">
      <div
        class="timeline-moved"
        style={{
          left: `${LEFT}px`,
          width: `${timeline.plot.value.width}px`,
          height: `${height}px`,
        }}
        data-testid="trace-marks"
      >
        <Drawn timeline={timeline} all={all} />
      </div>
    </div>
  );
}

function Drawn({ timeline, all }: { timeline: Timeline; all: readonly Bookmark[] }) {
  const { plot, window, reach } = timeline;
  const moved = useRef<HTMLDivElement>(null);
  const transform = useComputed(
    () => `translateX(${toPixel(window.value, plot.value.width, reach.value.begin)}px)`,
  );
  useTransform(moved, transform);
  const wide = Math.round(plot.value.width * reach.value.times);
  const x = (at: number): number =>
    Math.min(Math.max(toPixel(reach.value, wide, at), -FARTHEST), wide + FARTHEST);
  return (
    <div ref={moved} class="trace-marked" style={{ width: `${wide}px` }}>
      {all.map((bookmark) => {
        const { begin, end, name } = bookmark;
        const width = isMoment(bookmark) ? 0 : Math.max(x(end) - x(begin), 1);
        return (
          <div
            key={`${begin} ${end} ${name}`}
            class={`trace-mark ${isMoment(bookmark) ? "is-moment" : "is-window"}`}
            style={{ left: `${x(begin)}px`, width: `${width}px` }}
            data-mark={name}
          >
            <button
              type="button"
              class="plain"
              title={`${name}: ${wordsOf(bookmark)}`}
              onClick={() => jump(timeline, bookmark)}
            >
              {name}
            </button>
          </div>
        );
      })}
    </div>
  );
}
