/** Paints marks (out of memory, snapshots) and the peak's dot. */

import { bytes } from "../../format";
import type { Ink } from "../../theme/theme";
import { beside } from "../fitting";
import type { PlacedMark, Scene } from "../scene";
import { crisp, label, line, type Surface } from "./surface";

/** Half the height of a label, and some air. */
const CLEAR = 9;

export function paintMarks(surface: Surface, scene: Pick<Scene, "plot" | "marks">, ink: Ink): void {
  const { context } = surface;
  const { plot } = scene;
  let last = Number.NEGATIVE_INFINITY;
  for (const placed of scene.marks) {
    const isFailure = placed.mark.kind === "out_of_memory";
    const x = crisp(surface, plot.left + placed.x);
    // Glyphs closer than their width would be a smear: one stands for its neighbours.
    if (!isFailure && x - last < 4) continue;
    const colour = isFailure ? ink.danger : ink.quiet;
    context.save();
    context.globalAlpha = isFailure ? 1 : 0.7;
    if (!isFailure) context.setLineDash([2, 3]);
    line(surface, [x, plot.top - 3], [x, plot.top + plot.height], colour, isFailure ? 1.5 : 1);
    context.restore();
    paintGlyph(surface, placed, x, plot.top - 9, colour);
    if (!isFailure) last = x;
  }
}

/** A triangle with its point down for a failure, a small square (a picture taken) for a snapshot. */
function paintGlyph(
  surface: Surface,
  placed: PlacedMark,
  x: number,
  y: number,
  colour: string,
): void {
  const { context } = surface;
  context.beginPath();
  if (placed.mark.kind === "out_of_memory") {
    context.moveTo(x - 6, y - 5);
    context.lineTo(x + 6, y - 5);
    context.lineTo(x, y + 6);
    context.closePath();
  } else context.rect(x - 3.5, y - 2, 7, 6);
  context.fillStyle = colour;
  context.fill();
}

/** A dot on the peak with its bytes beside it, or a hollow one on the highest in view. */
export function paintDot(surface: Surface, scene: Scene, ink: Ink): void {
  const { context } = surface;
  const { dot, plot, height } = scene;
  if (dot === null) return;
  const x = plot.left + dot.x;
  const y = plot.top + plot.height * (1 - dot.bytes / height.top);
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fillStyle = dot.isPeak ? ink.cursor : ink.background;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = dot.isPeak ? ink.background : ink.cursor;
  context.stroke();
  const text = `${dot.isPeak ? "peak" : "highest here"} ${bytes(dot.bytes)}`;
  const wide = context.measureText(text).width;
  const fits = plot.left + plot.width - x > wide + 16;
  const [from, to] = fits ? [dot.x, dot.x + 9 + wide] : [dot.x - 9 - wide, dot.x];
  const room = { top: plot.top, bottom: plot.top + plot.height - CLEAR };
  context.textAlign = fits ? "left" : "right";
  const middle = beside(y, linesAt(scene, from, to), CLEAR, room);
  label(surface, text, fits ? x + 9 : x - 9, middle, ink.text, ink.background);
}

/** The heights at which reserved and capacity pass between two places of the plot. */
function linesAt(scene: Scene, from: number, to: number): number[] {
  const { plot, height } = scene;
  const columnOf = (x: number): number =>
    Math.min(Math.max(Math.floor((x / plot.width) * plot.columns), 0), plot.columns - 1);
  const reserved = scene.sheets.at(-1)?.reserved?.slice(columnOf(from), columnOf(to) + 1) ?? [];
  const held = new Set([...reserved].filter((bytes) => !Number.isNaN(bytes)));
  if (height.showsCapacity && scene.capacity !== null) held.add(scene.capacity);
  return [...held].map((bytes) => plot.top + plot.height * (1 - bytes / height.top));
}
