/** Paints what follows the pointer: the cursor's line, the crosshair and the brush. */

import type { Ink } from "../../theme/theme";
import { type Range, toPixel } from "../scale";
import type { Scene } from "../scene";
import { crisp, label, line, type Surface } from "./surface";

export interface Overlay {
  /** Place of the cursor on the axis and the bytes there; null where it is not in view. */
  readonly cursor: { readonly at: number; readonly bytes: number | null } | null;
  readonly hover: { readonly at: number; readonly bytes: number } | null;
  readonly brush: { readonly range: Range; readonly words: string } | null;
}

export function paintOverlay(surface: Surface, scene: Scene, overlay: Overlay, ink: Ink): void {
  const { plot, window } = scene;
  const xOf = (value: number) => plot.left + toPixel(window, plot.width, value);
  const yOf = (bytes: number) => plot.top + plot.height * (1 - bytes / scene.height.top);
  if (overlay.brush !== null) paintBrush(surface, scene, overlay.brush, xOf, ink);
  const { cursor, hover } = overlay;
  if (cursor !== null && cursor.at >= window.begin && cursor.at <= window.end) {
    const x = crisp(surface, xOf(cursor.at));
    line(surface, [x, plot.top - 4], [x, plot.top + plot.height], ink.cursor, 1.5);
    if (cursor.bytes !== null) dot(surface, x, yOf(cursor.bytes), 3.5, ink.cursor, ink.background);
  }
  if (hover !== null && hover.at >= window.begin && hover.at <= window.end) {
    const x = crisp(surface, xOf(hover.at));
    surface.context.globalAlpha = 0.6;
    line(surface, [x, plot.top], [x, plot.top + plot.height], ink.text, 1);
    surface.context.globalAlpha = 1;
    dot(surface, x, yOf(hover.bytes), 3, ink.text, ink.background);
  }
}

function dot(surface: Surface, x: number, y: number, radius: number, fill: string, ring: string) {
  const { context } = surface;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = ring;
  context.stroke();
}

function paintBrush(
  surface: Surface,
  { plot }: Scene,
  brush: NonNullable<Overlay["brush"]>,
  xOf: (value: number) => number,
  ink: Ink,
): void {
  const { context } = surface;
  const left = xOf(brush.range.begin);
  const right = xOf(brush.range.end);
  context.save();
  context.globalAlpha = 0.2;
  context.fillStyle = ink.cursor;
  context.fillRect(left, plot.top, right - left, plot.height);
  context.restore();
  for (const x of [left, right]) {
    line(
      surface,
      [crisp(surface, x), plot.top],
      [crisp(surface, x), plot.top + plot.height],
      ink.cursor,
      1,
    );
  }
  context.textAlign = "center";
  label(surface, brush.words, (left + right) / 2, plot.top + 10, ink.text, ink.background);
}
