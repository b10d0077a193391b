/** What each kind of byte is filled with: a colour and a texture, so that either tells them apart. */

import type { Surface } from "../../../timeline/paint/surface";

export interface Fills {
  /** What the program asked for. */
  readonly requested: string;
  /** What the allocator added; drawn as slanted lines. */
  readonly rounding: string;
  /** Freed, but another stream may still use it; drawn as dots. */
  readonly pending: string;
  /** Held and in no block; an empty frame. */
  readonly free: string;
}

export const fillsFor = (dark: boolean): Fills =>
  dark
    ? { requested: "#5b8cc4", rounding: "#ffb74d", pending: "#ce93d8", free: "#3d3d3d" }
    : { requested: "#4477aa", rounding: "#d9822b", pending: "#aa3377", free: "#f4f5f6" };

export type Textures = Readonly<Record<keyof Fills, CanvasPattern | string>>;

/** Fills for a canvas; the marks of the textures are in the colour of its `background`. */
export function texturesFor(
  surface: Pick<Surface, "context">,
  fills: Fills,
  background: string,
): Textures {
  return {
    ...fills,
    rounding: texture(surface, fills.rounding, background, slanted),
    pending: texture(surface, fills.pending, background, dotted),
  };
}

const SIZE = 6;

function slanted(context: CanvasRenderingContext2D): void {
  context.lineWidth = 1.4;
  context.beginPath();
  for (const shift of [-SIZE, 0, SIZE]) {
    context.moveTo(shift, SIZE);
    context.lineTo(shift + SIZE, 0);
  }
  context.stroke();
}

function dotted(context: CanvasRenderingContext2D): void {
  context.beginPath();
  context.arc(SIZE / 2, SIZE / 2, 1.3, 0, 2 * Math.PI);
  context.fill();
}

function texture(
  { context }: Pick<Surface, "context">,
  fill: string,
  mark: string,
  draw: (context: CanvasRenderingContext2D) => void,
): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = SIZE;
  tile.height = SIZE;
  const on = tile.getContext("2d");
  if (on === null) return fill;
  on.fillStyle = fill;
  on.fillRect(0, 0, SIZE, SIZE);
  on.strokeStyle = mark;
  on.fillStyle = mark;
  draw(on);
  return context.createPattern(tile, "repeat") ?? fill;
}
