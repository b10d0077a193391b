/** Paints the items of tracks as boxes with their names. */

import type { TraceItems } from "../../../api";
import { mix } from "../../../theme/mix";
import type { Ink } from "../../../theme/theme";
import { fitText } from "../../../timeline/lanes";
import type { Seen } from "../../../timeline/paint/axes";
import { type Surface, widthOf } from "../../../timeline/paint/surface";
import { type Range, toPixel } from "../../../timeline/scale";
import { busyShare, firstAfter, itemsIn, lanesOf } from "./items";
import { laneBox, type Placed, ROW } from "./layout";
import { drawnName } from "./words";

export interface Drawing {
  readonly reach: Range;
  /** Pixels of the canvas to where `reach` begins, and how many it takes. */
  readonly from: number;
  readonly width: number;
  readonly seen: Seen;
  readonly placed: readonly Placed[];
  readonly colourOf: (of: TraceItems, at: number) => string;
  /** The item that is pointed at; -1 without. */
  readonly over: number;
}

/** Narrower boxes have no name, and less than this no hair of background beside them. */
const NAMED = 26;
const APART = 3;
const PADDING = 4;
/** How much of a merged item's colour is seen at least. */
const LEAST = 0.35;
/** What is not found, while something is searched for. */
const FAINT = 0.22;
/** Texts that fit, by text and pixels; beyond, all are forgotten. */
const MOST_FITTED = 8000;
const fitted = new Map<string, string>();

export function paintItems(surface: Surface, of: TraceItems, drawing: Drawing, ink: Ink): void {
  const { context } = surface;
  const lanes = lanesOf(of);
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const placed of drawing.placed) {
    const { id, lanes: deep } = placed.track;
    for (let depth = 0; depth < (placed.isFolded ? 1 : deep); depth++) {
      const { top: y, height } = laneBox(placed, depth);
      if (y + height < 0 || y > surface.height) continue;
      const [from, to] = itemsIn(lanes, id, depth);
      const first = firstAfter(lanes, from, to, drawing.reach.begin);
      for (let at = first; at < to; at++) {
        if ((of.from[at] as number) > drawing.reach.end) break;
        paintItem(surface, of, at, { y, height }, drawing, ink);
      }
    }
  }
  context.globalAlpha = 1;
}

function paintItem(
  surface: Surface,
  of: TraceItems,
  at: number,
  { y, height }: { readonly y: number; readonly height: number },
  drawing: Drawing,
  ink: Ink,
): void {
  const { context } = surface;
  const x = drawing.from + toPixel(drawing.reach, drawing.width, of.from[at] as number);
  const end = drawing.from + toPixel(drawing.reach, drawing.width, of.to[at] as number);
  const wide = end - x;
  const isMerged = (of.count[at] as number) > 1;
  const isFaint = of.hits !== null && of.hits[at] === 0;
  const share = isMerged ? Math.max(busyShare(of, at), LEAST) : 1;
  context.globalAlpha = isFaint ? share * FAINT : share;
  const colour = drawing.colourOf(of, at);
  context.fillStyle = drawing.over === at ? mix(colour, ink.text, 0.25) : colour;
  context.fillRect(x, y, wide > APART ? wide - 0.5 : Math.max(wide, 1), height);
  if (of.hits !== null && !isFaint) {
    context.fillStyle = ink.accent;
    context.fillRect(x, y + height - 3, Math.max(wide, 1), 3);
  }
  if (wide < NAMED || height < ROW) return;
  const [left, right] = shownPart(x, end, drawing.seen);
  const text = fit(surface, drawnName(of, at), right - left - 2 * PADDING);
  if (text === "") return;
  context.globalAlpha = isFaint ? 0.5 : 1;
  context.fillStyle = ink.text;
  context.fillText(text, left + PADDING, y + height / 2 + 0.5);
}

/** The part of a box that is in view; all of one that is not. */
function shownPart(left: number, right: number, seen: Seen): readonly [number, number] {
  if (right <= seen.left || left >= seen.right) return [left, right];
  return [Math.max(left, seen.left), Math.min(right, seen.right)];
}

/** As `fitText`, remembered: a zoom has the same names fit again and again. */
function fit(surface: Surface, text: string, room: number): string {
  if (room <= 0) return "";
  const key = `${Math.floor(room)} ${text}`;
  const known = fitted.get(key);
  if (known !== undefined) return known;
  if (fitted.size >= MOST_FITTED) fitted.clear();
  const found = fitText(text, Math.floor(room), (part) => widthOf(surface, part));
  fitted.set(key, found);
  return found;
}
