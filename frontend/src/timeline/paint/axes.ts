/** Paints grid lines and the labels of the axes. */

import type { Ink } from "../../theme/theme";
import { leftOf } from "../fitting";
import { toPixel } from "../scale";
import type { Scene } from "../scene";
import { byteTicks, eventTicks, shareTicks, type Tick, timeTicks } from "../ticks";
import { crisp, label, line, type Surface, widthOf } from "./surface";

/** Room a label on the horizontal axis needs, in pixels. */
const LABEL_ROOM = 110;
const GAP = 8;

type Across = Pick<Scene, "axis" | "window" | "plot">;

/** What is in view of a canvas that is `times` as wide, in its pixels: labels keep clear of the edges. */
export interface Seen {
  readonly left: number;
  readonly right: number;
  readonly times: number;
}
/** Pixels right of what is in view that labels may reach to. */
const BESIDE = 16;

export function paintByteAxis(surface: Surface, scene: Scene, ink: Ink): void {
  const { context } = surface;
  const { plot } = scene;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of byteTicks(scene.height.top, plot.height < 200 ? 5 : 8)) {
    const y = crisp(surface, plot.top + plot.height * (1 - tick.value / scene.height.top));
    line(surface, [plot.left, y], [plot.left + plot.width, y], ink.line);
    context.fillStyle = ink.quiet;
    context.fillText(tick.label, plot.left - GAP, y);
  }
}

/** The axis of fragmentation, with the formula it is of. */
export function paintShareAxis(surface: Surface, scene: Scene, ink: Ink, formula: string): void {
  const { context } = surface;
  const { plot } = scene;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = ink.accent;
  for (const tick of shareTicks()) {
    const y = crisp(surface, plot.top + plot.height * (1 - tick.value));
    line(surface, [plot.left + plot.width, y], [plot.left + plot.width + 4, y], ink.accent);
    context.fillText(tick.label, plot.left + plot.width + GAP, y);
  }
  context.textAlign = "right";
  const words = `fragmentation = ${formula}`;
  const marks = scene.marks.map(({ x }) => x);
  const right = leftOf(plot.width, marks, context.measureText(words).width);
  label(surface, words, plot.left + right, plot.top - 10, ink.accent, ink.background);
}

export function paintPlaceAxis(
  surface: Surface,
  scene: Across,
  ink: Ink,
  seen: Seen | null = null,
): void {
  const { context } = surface;
  const { plot, window } = scene;
  const base = plot.top + plot.height;
  const times = seen?.times ?? 1;
  // As many as would be in view: they stay where they are, however much more is drawn.
  const most = Math.max(2, Math.floor(plot.width / times / LABEL_ROOM)) * times;
  const { ticks, base: origin } =
    scene.axis === "time" ? timeTicks(window, most) : eventTicks(window, most);
  line(
    surface,
    [plot.left, crisp(surface, base)],
    [plot.left + plot.width, crisp(surface, base)],
    ink.line,
  );
  context.textBaseline = "top";
  context.fillStyle = ink.quiet;
  const left = seen?.left ?? plot.left;
  const edges = { left: left - GAP / 2, begin: left - GAP / 2, end: surface.width, last: Infinity };
  if (seen !== null) Object.assign(edges, { end: seen.right + BESIDE, last: seen.right });
  if (origin !== null) {
    context.textAlign = "left";
    context.fillText(origin.label, left, base + 6);
    edges.begin = left + widthOf(surface, origin.label) + GAP;
  }
  let free = seen === null ? edges.begin : 0;
  for (const tick of ticks) {
    const x = crisp(surface, plot.left + toPixel(window, plot.width, tick.value));
    line(surface, [x, base], [x, base + 4], ink.quiet);
    free = placeLabel(surface, tick, x, base + 6, free, edges);
  }
}

/** What labels must not cross: from `left` to `begin`, and `end`; ticks after `last` are out of view. */
interface Edges {
  readonly left: number;
  readonly begin: number;
  readonly end: number;
  readonly last: number;
}

/** Writes a label under its tick, kept from the edges, left out where it would touch the last one. */
function placeLabel(
  surface: Surface,
  tick: Tick,
  x: number,
  y: number,
  free: number,
  edges: Edges,
): number {
  const { context } = surface;
  const wide = widthOf(surface, tick.label);
  let start = Math.max(x - wide / 2, 0);
  if (start < edges.end && start + wide > edges.end) {
    if (x > edges.last) return free;
    start = edges.end - wide;
  }
  const isCut = start < edges.begin && start + wide > edges.left;
  if (start < free || isCut) return free;
  context.textAlign = "left";
  context.fillText(tick.label, start, y);
  return start + wide + GAP;
}

/** What the horizontal counts, said once at the left of its labels. */
export function paintAxisName(
  surface: Surface,
  scene: Omit<Across, "window">,
  ink: Ink,
  event = "event",
): void {
  const { context } = surface;
  context.textAlign = "right";
  context.textBaseline = "top";
  context.fillStyle = ink.quiet;
  const name = scene.axis === "time" ? "time" : event;
  context.fillText(name, scene.plot.left - GAP, scene.plot.top + scene.plot.height + 6);
}
