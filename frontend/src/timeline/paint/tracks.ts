/** Paints steps and annotations as boxes with their names. */

import { mix } from "../../theme/mix";
import type { Ink } from "../../theme/theme";
import { type Box, fitText } from "../lanes";
import type { Seen } from "./axes";
import { type Surface, widthOf } from "./surface";

export interface Rows {
  /** CSS pixels from the left of the canvas to the plot. */
  readonly left: number;
  /** CSS pixels of rows scrolled away above the canvas. */
  readonly top: number;
  readonly rowHeight: number;
  readonly gap: number;
  /** What is in view: names keep to it. */
  readonly seen: Seen;
}

/** Ids of what is pointed at, and of what is explained. */
export interface Marked {
  readonly over: string | null;
  readonly chosen: string | null;
}

const PADDING = 6;

export function paintBoxes(
  surface: Surface,
  boxes: readonly Box[],
  rows: Rows,
  ink: Ink,
  marked: Marked,
): void {
  const { context } = surface;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const measure = (text: string) => widthOf(surface, text);
  const merged = mix(ink.track, ink.quiet, 0.25);
  for (const box of boxes) {
    const x = rows.left + box.left;
    const y = box.row * (rows.rowHeight + rows.gap) - rows.top;
    if (y + rows.rowHeight < 0 || y > surface.height) continue;
    // A hair of background between neighbours tells them apart.
    const wide = Math.max(box.right - box.left - 1, 1);
    context.fillStyle = box.item.count > 1 ? merged : ink.track;
    if (marked.over === box.item.id) context.fillStyle = mix(ink.track, ink.accent, 0.35);
    context.fillRect(x, y, wide, rows.rowHeight);
    if (marked.chosen === box.item.id && box.item.count === 1) {
      context.strokeStyle = ink.accent;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 1), rows.rowHeight - 2);
    }
    paintOpenSide(surface, box, x, y, wide, rows.rowHeight, ink.accent);
    const name = box.item.count > 1 ? `${box.item.count} × ${box.item.name}` : box.item.name;
    const [from, to] = shownPart(x, x + wide, rows.seen);
    const text = fitText(name, to - from - 2 * PADDING, measure);
    if (text === "") continue;
    context.fillStyle = ink.text;
    context.fillText(text, from + PADDING, y + rows.rowHeight / 2 + 0.5);
  }
}

/** The part of a box that is in view; all of one that is not. */
function shownPart(left: number, right: number, seen: Seen): readonly [number, number] {
  if (right <= seen.left || left >= seen.right) return [left, right];
  return [Math.max(left, seen.left), Math.min(right, seen.right)];
}

/** A dashed edge where a span was never seen to begin or to end. */
function paintOpenSide(
  surface: Surface,
  box: Box,
  x: number,
  y: number,
  wide: number,
  tall: number,
  colour: string,
): void {
  if (box.item.open === null || wide < 4) return;
  const { context } = surface;
  const at = box.item.open === "begin" ? x + 1 : x + wide - 1;
  context.save();
  context.setLineDash([2, 2]);
  context.beginPath();
  context.moveTo(at, y);
  context.lineTo(at, y + tall);
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}
