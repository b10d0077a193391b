/** Paints what is in a segment: blocks wide enough by themselves, smaller ones by their shares. */

import type { SegmentState } from "../../../api";
import type { Surface } from "../../profile/timeline/paint/surface";
import { blockFrom, type Source } from "./blocks";
import type { Fill } from "./groups";
import type { Strip } from "./layout";
import type { Textures } from "./textures";

/** Height of a segment in its line. */
export const BAR = 17;

export function paintBlocks(
  surface: Surface,
  { state, starts }: Source,
  segment: number,
  strip: Strip,
  textures: Textures & { readonly fill: Fill },
): void {
  const { blocks } = state;
  const stop = starts[segment + 1] as number;
  let row = blockFrom(blocks, starts[segment] as number, stop, strip.from);
  const scale = strip.width / (strip.to - strip.from);
  for (; row < stop && (blocks.offset[row] as number) < strip.to; row++) {
    const begin = blocks.offset[row] as number;
    const end = begin + (blocks.size[row] as number);
    const left = strip.x + (Math.max(begin, strip.from) - strip.from) * scale;
    const right = strip.x + (Math.min(end, strip.to) - strip.from) * scale;
    const box = { left, right, top: strip.y, isWhole: right - left >= 3 };
    if (blocks.count[row] === 1) paintOne(surface, state, row, box, strip, scale, textures);
    else paintMany(surface, state, row, box, textures);
  }
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  /** Wide enough for a line of air to its neighbour. */
  readonly isWhole: boolean;
}

/** One block: what was asked for from its beginning on, what was added after it. */
function paintOne(
  { context }: Surface,
  state: SegmentState,
  row: number,
  { left, right, top, isWhole }: Box,
  strip: Strip,
  scale: number,
  textures: Textures & { readonly fill: Fill },
): void {
  const { blocks } = state;
  const begin = blocks.offset[row] as number;
  const filled = begin + (blocks.requested[row] as number);
  const end = right - (isWhole ? 1 : 0);
  const until = Math.min(Math.max(strip.x + (filled - strip.from) * scale, left), end);
  const asked = textures.fill(state, row) ?? textures.requested;
  context.fillStyle = (blocks.pending[row] as number) > 0 ? textures.pending : asked;
  context.fillRect(left, top, until - left, BAR);
  context.fillStyle = textures.rounding;
  context.fillRect(until, top, end - until, BAR);
}

/** Blocks too small to tell apart: their shares, from the bottom up. */
function paintMany(
  { context }: Surface,
  state: SegmentState,
  row: number,
  { left, right, top }: Box,
  textures: Textures & { readonly fill: Fill },
): void {
  const { blocks } = state;
  const unit = BAR / (blocks.size[row] as number);
  const used = blocks.used[row] as number;
  const pending = blocks.pending[row] as number;
  const rounding = Math.max(0, used - (blocks.requested[row] as number));
  const parts = [
    [textures.fill(state, row) ?? textures.requested, Math.max(0, used - pending - rounding)],
    [textures.pending, pending],
    [textures.rounding, Math.min(rounding, used - pending)],
  ] as const;
  let base = top + BAR;
  for (const [fill, size] of parts) {
    const high = size * unit;
    if (high <= 0) continue;
    context.fillStyle = fill;
    context.fillRect(left, base - high, Math.max(right - left, 0.5), high);
    base -= high;
  }
}
