/** What is under the pointer, beside it. */

import { ink } from "../../../theme/theme";
import { LEFT } from "../../../timeline/model";
import { Tip } from "../../../timeline/Tip";
import { kindColour } from "./colours";
import type { Panel } from "./model";
import { kindOf, wordsOf } from "./words";

/** Pixels from the pointer down, and those that the box needs below it. */
const BELOW = 16;
const TALL = 110;

export function Tooltip({ panel }: { panel: Panel }) {
  const [pointed, pointer] = [panel.pointed.value, panel.pointer.value];
  if (pointed === null || pointer === null) return null;
  const { of, at } = pointed;
  const [id] = of.lanes[of.lane[at] as number] ?? [""];
  const track = panel.tracks.value.find((one) => one.id === id)?.name ?? "";
  const { title, lines } = wordsOf(of, at, track);
  const { y } = pointer;
  const isAbove = y + TALL > panel.seen.value && y > TALL;
  return (
    <Tip
      x={LEFT + pointer.x}
      y={isAbove ? panel.seen.value - y + BELOW / 2 : y + BELOW}
      above={isAbove}
      within={panel.timeline.width.value}
      testId="trace-tooltip"
    >
      <div class="timeline-tooltip-title">
        <i class="timeline-swatch" style={{ background: kindColour(kindOf(of, at), ink.value) }} />
        {title}
      </div>
      {lines.map((line) => (
        <div class="quiet" key={line}>
          {line}
        </div>
      ))}
    </Tip>
  );
}
