/** Where arrows begin and end: on the lanes of spans, and on the picture of allocations. */

import type { TraceSpan } from "../../../api";
import { thingOf } from "../../../drawing/things";
import type { Picture } from "../../../picture/pictures";
import type { PanelKey } from "../../../state/trace";
import { laneBox } from "../lanes/layout";
import type { Panel } from "../lanes/model";

/** Top and height of what is in a panel, in pixels of all panels together. */
export interface Box {
  readonly top: number;
  readonly height: number;
}
export type Boxes = Readonly<Partial<Record<PanelKey | "marks", Box>>>;

/** One end of an arrow: a time, and pixels from the top of all panels. */
export interface End {
  readonly at: number;
  readonly y: number;
}

/** The middle of a span's lane; at the edge of its panel where it is scrolled away. Null if left out. */
export function heightOfSpan(
  span: TraceSpan,
  panels: readonly Panel[],
  boxes: Boxes,
): number | null {
  for (const panel of panels) {
    if (panel.kind !== "host" && panel.kind !== "device") continue;
    const box = boxes[panel.kind];
    const placed = panel.placed.value.find(({ track }) => track.id === span.track);
    if (box === undefined || placed === undefined) continue;
    const { staying, edge } = panel.inSight.value;
    const { top, height } = laneBox(placed, span.depth);
    const isStaying = staying.includes(placed);
    const y = top + height / 2 - (isStaying ? 0 : panel.scrolled.value);
    return box.top + Math.min(Math.max(y, isStaying ? 0 : edge), box.height);
  }
  const steps = boxes.steps;
  const isKnown = panels.some(({ tracks }) => tracks.value.some(({ id }) => id === span.track));
  return isKnown || steps === undefined ? null : steps.top + steps.height / 2;
}

/** How high an allocation is in a picture at a time, as a share of it from the top; null where not seen. */
export function shareOfAllocation(picture: Picture, id: string, at: number): number | null {
  const { view, runs, numbers, tiles } = picture;
  const x = Math.floor(((at - view.begin) / (view.end - view.begin)) * view.width);
  for (const column of [x, x + 1, x - 1]) {
    if (column < 0 || column >= view.width) continue;
    for (let run = runs.from[column] as number; run < (runs.to[column] as number); run++) {
      const thing = thingOf(numbers, runs.ids[run] as number);
      if (thing === null || thing.kind === "gap") continue;
      const rows = tiles[thing.tile]?.[thing.kind === "row" ? "rows" : "merged"];
      if (rows === undefined || String(rows.allocation[thing.at]) !== id) continue;
      const from = run === runs.from[column] ? 0 : (runs.ends[run - 1] as number);
      return 1 - (from + (runs.ends[run] as number)) / 2 / view.height;
    }
  }
  return null;
}

/** The way of an arrow, bowed where it goes across: pixels of the canvas. */
export function pathOf(x1: number, y1: number, x2: number, y2: number): string {
  const bow = Math.max(Math.min(Math.abs(x2 - x1) / 2, 80), 18);
  const round = (value: number) => Math.round(value * 10) / 10;
  const points = [x1, y1, x1 + bow, y1, x2 - bow, y2, x2, y2].map(round);
  const [a, b, c, d, e, f, g, h] = points;
  return `M${a} ${b}C${c} ${d} ${e} ${f} ${g} ${h}`;
}
