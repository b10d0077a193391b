/** Paints a bar of buffers, and over it what is pointed at and what is selected. */

import type { PlanBars } from "../../api/bars";
import type { Surface } from "../../timeline/paint/surface";
import type { Order } from "./orders";

export interface BarColours {
  /** Of every row: what it holds, and its padding. */
  readonly of: (row: number) => { readonly full: string; readonly padding: string };
  readonly rest: string;
  readonly background: string;
}

/** Buffers narrower than this have no line beside them. */
const PARTED = 3;

/** `order` as wide as the surface; what is too small stands at the end. */
export function paintBar(
  { context, width, height, ratio }: Surface,
  bars: PlanBars,
  { rows, edges }: Order,
  { of, rest, background }: BarColours,
): void {
  const scale = width / Math.max(bars.total, 1);
  // On whole pixels of the screen: what is smeared over two looks as pale as padding.
  const at = (bytes: number) => Math.round(bytes * scale * ratio) / ratio;
  rows.forEach((row, place) => {
    const left = at(edges[place] as number);
    const right = at(edges[place + 1] as number);
    if (right === left) return;
    const { full, padding } = of(row);
    const gap = right - left >= PARTED ? 1 : 0;
    const bare = at((edges[place] as number) + (bars.unpadded[row] as number));
    context.fillStyle = full;
    context.fillRect(left, 0, Math.max(right - left - gap, 0), height);
    if (right - gap > bare) {
      context.fillStyle = padding;
      context.fillRect(bare, 0, right - gap - bare, height);
    }
  });
  const end = at(edges.at(-1) as number);
  if (width - end <= 0.5) return;
  context.fillStyle = background;
  context.fillRect(end, 0, 1, height);
  context.fillStyle = rest;
  context.fillRect(end + 1, 0, width - end - 1, height);
}

/** A frame around `span` of `total` bytes, as wide as can be seen. */
export function paintFrame(
  { context, width, height }: Surface,
  span: readonly [number, number],
  total: number,
  colour: string,
  halo: string,
): void {
  const scale = width / Math.max(total, 1);
  const wide = Math.max((span[1] - span[0]) * scale, 3);
  const left = Math.min(Math.max(span[0] * scale, 1), Math.max(width - wide - 1, 1));
  context.strokeStyle = halo;
  context.lineWidth = 4;
  context.strokeRect(left, 1.5, Math.min(wide, width - 2), height - 3);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(left, 1.5, Math.min(wide, width - 2), height - 3);
}
