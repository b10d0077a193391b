/** Paints what follows the pointer: the crosshair, the brush and the ruler. */

import type { Axis } from "../../api";
import { bytes as inWords } from "../../format";
import type { Ink } from "../../theme/theme";
import type { Point } from "../../timeline/model";
import { crisp, label, line, type Surface } from "../../timeline/paint/surface";
import { lengthWords } from "../../timeline/readout";
import { type Range, span, toPixel } from "../../timeline/scale";
import type { Plot, Scene } from "../../timeline/scene";
import type { Area, Ruler } from "../model";
import { acrossWords, upWords } from "../ruler";

export interface Following {
  readonly axis: Axis;
  readonly pointer: Point | null;
  readonly brush: Area | null;
  readonly ruler: Ruler | null;
}

export function paintPointer(
  surface: Surface,
  scene: Pick<Scene, "plot" | "window">,
  bytes: Range,
  { axis, pointer, brush, ruler }: Following,
  ink: Ink,
): void {
  const { context } = surface;
  const { plot, window } = scene;
  const xOf = (value: number) => plot.left + toPixel(window, plot.width, value);
  const yOf = (value: number) => plot.top + plot.height - toPixel(bytes, plot.height, value);
  if (brush !== null) paintBrush(surface, plot, brush, axis, xOf, yOf, ink);
  else if (pointer !== null) {
    const x = crisp(surface, plot.left + pointer.x);
    context.globalAlpha = 0.45;
    line(surface, [x, plot.top], [x, plot.top + plot.height], ink.text);
    context.globalAlpha = 1;
  }
  if (ruler !== null) paintRuler(surface, ruler, axis, xOf, yOf, ink);
}

function paintBrush(
  surface: Surface,
  plot: Plot,
  { window, bytes }: Area,
  axis: Axis,
  xOf: (value: number) => number,
  yOf: (value: number) => number,
  ink: Ink,
): void {
  const { context } = surface;
  const left = window === null ? plot.left : xOf(window.begin);
  const right = window === null ? plot.left + plot.width : xOf(window.end);
  const top = bytes === null ? plot.top : yOf(bytes.end);
  const bottom = bytes === null ? plot.top + plot.height : yOf(bytes.begin);
  context.globalAlpha = 0.2;
  context.fillStyle = ink.cursor;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.strokeStyle = ink.cursor;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  const words = [
    window === null ? null : lengthWords(axis, span(window)),
    bytes === null ? null : inWords(Math.round(span(bytes))),
  ];
  context.textAlign = "center";
  const text = words.filter((word) => word !== null).join(" × ");
  const y = bottom - top > 30 ? top + 10 : Math.max(top - 10, 10);
  label(surface, text, (left + right) / 2, y, ink.text, ink.background);
}

/** A line between the two points, with its sides and what they measure. */
function paintRuler(
  surface: Surface,
  ruler: Ruler,
  axis: Axis,
  xOf: (value: number) => number,
  yOf: (value: number) => number,
  ink: Ink,
): void {
  const { context } = surface;
  const [x1, y1, x2, y2] = [
    xOf(ruler.from.at),
    yOf(ruler.from.bytes),
    xOf(ruler.to.at),
    yOf(ruler.to.bytes),
  ];
  line(surface, [x1, y1], [x2, y1], ink.accent, 2);
  line(surface, [x2, y1], [x2, y2], ink.accent, 2);
  context.save();
  context.setLineDash([4, 3]);
  line(surface, [x1, y1], [x2, y2], ink.accent, 1);
  context.restore();
  for (const [x, y] of [
    [x1, y1],
    [x2, y2],
  ] as const) {
    context.beginPath();
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fillStyle = ink.accent;
    context.fill();
  }
  context.textAlign = "center";
  const below = y2 <= y1 ? 11 : -11;
  label(surface, acrossWords(ruler, axis), (x1 + x2) / 2, y1 + below, ink.text, ink.background);
  context.textAlign = x2 >= x1 ? "left" : "right";
  const beside = x2 >= x1 ? 8 : -8;
  label(surface, upWords(ruler), x2 + beside, (y1 + y2) / 2, ink.text, ink.background);
}
