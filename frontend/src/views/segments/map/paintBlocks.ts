/** Paints what is in a segment: blocks wide enough by themselves, smaller ones by their shares. */

import type { BlockRows, SegmentState } from "../../../api";
import type { Surface } from "../../../timeline/paint/surface";
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
    const share = shareThatPasses(blocks, row);
    if (blocks.count[row] !== 1) paintMany(surface, state, row, box, share, textures);
    else {
      surface.context.globalAlpha = share === 0 ? FAINT : 1;
      paintOne(surface, state, row, box, strip, scale, textures);
      surface.context.globalAlpha = 1;
    }
  }
}

/** Where a block ends: its own colour, darker. */
const EDGE = "rgb(0 0 0 / 0.36)";

/** How much stands back of what does not pass the filter. */
const FAINT = 0.22;

/** The share of a row that passes the filter; all of it where there is none. */
export function shareThatPasses(blocks: BlockRows, row: number): number {
  const passing = blocks.passing[row];
  return passing === undefined ? 1 : passing / Math.max(1, blocks.used[row] as number);
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  /** Wide enough for an edge towards its neighbour. */
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
  const until = Math.min(Math.max(strip.x + (filled - strip.from) * scale, left), right);
  const asked = textures.fill(state, row) ?? textures.requested;
  context.fillStyle = (blocks.pending[row] as number) > 0 ? textures.pending : asked;
  context.fillRect(left, top, until - left, BAR);
  context.fillStyle = textures.rounding;
  context.fillRect(until, top, right - until, BAR);
  if (!isWhole) return;
  // Darker, as in Allocations: what is left open between blocks would look like free bytes.
  context.fillStyle = EDGE;
  context.fillRect(right - 1, top, 1, BAR);
}

/** Blocks too small to tell apart: their shares, from the bottom up; what passes is below. */
function paintMany(
  { context }: Surface,
  state: SegmentState,
  row: number,
  { left, right, top }: Box,
  share: number,
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
  for (const [of, alpha] of [
    [share, 1],
    [1 - share, FAINT],
  ] as const) {
    context.globalAlpha = alpha;
    for (const [fill, size] of parts) {
      const high = size * unit * of;
      if (high <= 0) continue;
      context.fillStyle = fill;
      context.fillRect(left, base - high, Math.max(right - left, 0.5), high);
      base -= high;
    }
  }
  context.globalAlpha = 1;
}
