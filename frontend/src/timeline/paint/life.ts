/** Paints the life of the selected allocation as a bar above the picture, and where it goes on. */

import type { Ink } from "../../theme/theme";
import type { Life } from "../life";
import { type Range, toPixel } from "../scale";
import type { Plot, Scene } from "../scene";
import { crisp, label, line, type Surface } from "./surface";

const TALL = 3;

/** The bar, as far as it is drawn. */
export function paintLife(
  surface: Surface,
  { plot, window }: Pick<Scene, "plot" | "window">,
  life: Life,
  ink: Ink,
): void {
  if (life.end < window.begin || life.begin > window.end) return;
  const { context } = surface;
  const y = topOf(plot);
  const at = (value: number) => plot.left + toPixel(window, plot.width, value);
  const left = Math.max(at(life.begin), plot.left);
  const right = Math.min(Math.max(at(life.end), left + 2), plot.left + plot.width);
  context.fillStyle = ink.accent;
  context.fillRect(left, y, right - left, TALL);
  // A cap where it is seen to begin and to end.
  if (life.isBorn && life.begin >= window.begin) context.fillRect(left, y - 3, 2, TALL + 6);
  if (life.isDead && life.end <= window.end) context.fillRect(right - 2, y - 3, 2, TALL + 6);
}

/** Its bytes over its life, from the bottom of the picture, where they are told. */
export function paintHeight(
  { context }: Surface,
  { plot, window, height }: Pick<Scene, "plot" | "window" | "height">,
  life: Life,
  ink: Ink,
): void {
  if (life.bytes === undefined || life.end < window.begin || life.begin > window.end) return;
  const at = (value: number) => plot.left + toPixel(window, plot.width, value);
  const left = Math.max(at(life.begin), plot.left);
  const right = Math.min(Math.max(at(life.end), left + 1), plot.left + plot.width);
  const tall = Math.max(1, (life.bytes / height.top) * plot.height);
  const top = plot.top + plot.height - tall;
  context.save();
  context.globalAlpha = 0.4;
  context.fillStyle = ink.background;
  context.fillRect(left, top, right - left, tall);
  context.globalAlpha = 0.35;
  context.fillStyle = ink.accent;
  context.fillRect(left, top, right - left, tall);
  context.globalAlpha = 1;
  context.strokeStyle = ink.text;
  context.lineWidth = 1;
  context.strokeRect(left, top, right - left, tall);
  context.restore();
}

/** Lines through the picture where a life is seen to begin and to end. */
export function paintEnds(
  surface: Surface,
  { plot, window }: Pick<Scene, "plot" | "window">,
  life: Life,
  ink: Ink,
): void {
  const { context } = surface;
  context.save();
  context.setLineDash([3, 3]);
  for (const [end, isSeen] of [
    [life.begin, life.isBorn],
    [life.end, life.isDead],
  ] as const) {
    if (!isSeen || end < window.begin || end > window.end) continue;
    const x = crisp(surface, plot.left + toPixel(window, plot.width, end));
    line(surface, [x, plot.top], [x, plot.top + plot.height], ink.accent, 1.25);
  }
  context.restore();
}

/** Where a life goes on out of view: to the left, to the right, and whether none of it is in view. */
export interface Beyond {
  readonly left: boolean;
  readonly right: boolean;
  readonly isOut: boolean;
}

export const beyondOf = (life: Life, window: Range): Beyond => ({
  left: life.begin < window.begin,
  right: life.end > window.end,
  isOut: life.end < window.begin || life.begin > window.end,
});

/** Arrows at the edges of what is in view, and words where nothing else of the life is. */
export function paintBeyond(surface: Surface, plot: Plot, beyond: Beyond, ink: Ink): void {
  const { context } = surface;
  const y = topOf(plot);
  context.fillStyle = ink.accent;
  if (beyond.left) arrow(surface, plot.left, y + TALL / 2, -1);
  if (beyond.right) arrow(surface, plot.left + plot.width, y + TALL / 2, 1);
  if (!beyond.isOut) return;
  context.textAlign = beyond.left ? "left" : "right";
  const x = beyond.left ? plot.left + 12 : plot.left + plot.width - 12;
  label(surface, "the selected allocation is out of view", x, y, ink.text, ink.background);
}

const topOf = ({ top }: Plot): number => top - 5;

function arrow({ context }: Surface, x: number, y: number, direction: 1 | -1): void {
  context.beginPath();
  context.moveTo(x + direction * 2, y);
  context.lineTo(x - direction * 7, y - 6);
  context.lineTo(x - direction * 7, y + 6);
  context.closePath();
  context.fill();
}
