/** Paints the life of the selected allocation as a bar above the picture, and where it goes on. */

import type { Ink } from "../../../theme/theme";
import { label, type Surface } from "../../profile/timeline/paint/surface";
import { toPixel } from "../../profile/timeline/scale";
import type { Scene } from "../../profile/timeline/scene";
import type { Life } from "../life";

const TALL = 3;

export function paintLife(
  surface: Surface,
  { plot, window }: Pick<Scene, "plot" | "window">,
  life: Life,
  ink: Ink,
): void {
  const { context } = surface;
  const y = plot.top - 5;
  const at = (value: number) => plot.left + toPixel(window, plot.width, value);
  const isBefore = life.end < window.begin;
  const isAfter = life.begin > window.end;
  context.fillStyle = ink.accent;
  if (!isBefore && !isAfter) {
    const left = Math.max(at(life.begin), plot.left);
    const right = Math.min(Math.max(at(life.end), left + 2), plot.left + plot.width);
    context.fillRect(left, y, right - left, TALL);
    // A cap where it is seen to begin and to end.
    if (life.isBorn && life.begin >= window.begin) context.fillRect(left, y - 3, 2, TALL + 6);
    if (life.isDead && life.end <= window.end) context.fillRect(right - 2, y - 3, 2, TALL + 6);
  }
  if (life.begin < window.begin) arrow(surface, plot.left, y + TALL / 2, -1);
  if (life.end > window.end) arrow(surface, plot.left + plot.width, y + TALL / 2, 1);
  if (!isBefore && !isAfter) return;
  context.textAlign = isBefore ? "left" : "right";
  const x = isBefore ? plot.left + 12 : plot.left + plot.width - 12;
  label(surface, "the selected allocation is out of view", x, y, ink.text, ink.background);
}

function arrow({ context }: Surface, x: number, y: number, direction: 1 | -1): void {
  context.beginPath();
  context.moveTo(x + direction * 2, y);
  context.lineTo(x - direction * 7, y - 6);
  context.lineTo(x - direction * 7, y + 6);
  context.closePath();
  context.fill();
}
