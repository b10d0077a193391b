/** Boxes of the rows in view, on a canvas: colours, names, what the search found, where the focus is. */

import type { FlameGraph } from "../../api";
import type { Ink } from "../../theme/theme";
import { gapColour } from "../../timeline/groupColours";
import type { Surface } from "../../timeline/paint/surface";
import { inkOn } from "../../weighing/colours";
import type { Layout } from "./layout";
import { type Place, ROW } from "./model";

/** Narrower boxes get no name, and no gap beside them. */
const NAMED = 28;
const GAPPED = 3;
const A_LETTER = 6;
const DIM = 0.22;
const UNKNOWN = "#888888";

export interface Picture {
  graph: FlameGraph;
  layout: Layout;
  /** By frame; by node where boxes have the colours of groups. */
  colours: readonly string[];
  boxes: readonly string[] | null;
  /** Rows above the first node. */
  above: number;
  rows: number;
  scrolled: number;
  upwards: boolean;
  /** Nodes that the stack of what is selected goes through. */
  selected: ReadonlySet<number>;
  focus: Place | null;
  pointed: Place | null;
}

/** Where a row begins, in pixels of the whole graph. */
export const rowTop = (row: number, rows: number, upwards: boolean): number =>
  (upwards ? rows - 1 - row : row) * ROW;

export function paintFlame(surface: Surface, picture: Picture, ink: Ink): void {
  const { graph, layout, above, rows, scrolled, upwards } = picture;
  const { context, height } = surface;
  context.textBaseline = "middle";
  for (let row = 0; row < rows; row += 1) {
    const top = rowTop(row, rows, upwards) - scrolled;
    if (top + ROW < 0 || top > height) continue;
    if (row < above) {
      const frame = graph.way[row]?.frame ?? 0;
      const colour = picture.boxes ? gapColour(ink) : (picture.colours[frame] ?? UNKNOWN);
      const all = { frame, colour, left: 0, right: surface.width, top, hit: 1 };
      box(surface, picture, all, ~row, ink);
      continue;
    }
    for (const node of layout.rows[row - above] ?? []) {
      const left = (layout.begin[node] as number) * surface.width;
      const right = left + (layout.width[node] as number) * surface.width;
      const frame = graph.nodes.frame[node] as number;
      const value = graph.nodes.value[node] as number;
      const hit = graph.nodes.hit ? (graph.nodes.hit[node] as number) / Math.max(value, 1) : 1;
      const colour = picture.boxes?.[node] ?? picture.colours[frame] ?? UNKNOWN;
      box(surface, picture, { frame, colour, left, right, top, hit }, node, ink);
    }
  }
}

interface Box {
  frame: number;
  colour: string;
  left: number;
  right: number;
  top: number;
  /** Share of it that the search found; 1 without a search. */
  hit: number;
}

function box(surface: Surface, picture: Picture, at: Box, place: Place, ink: Ink): void {
  const { context } = surface;
  const { frames } = picture.graph;
  const wide = at.right - at.left;
  const width = Math.max(wide - (wide > GAPPED ? 1 : 0), 0.5);
  const { colour } = at;
  context.fillStyle = colour;
  if (at.hit < 1) {
    context.globalAlpha = DIM;
    context.fillRect(at.left, at.top, width, ROW - 1);
    context.globalAlpha = 1;
  }
  if (at.hit > 0) context.fillRect(at.left, at.top, width * at.hit, ROW - 1);
  if (picture.graph.found && frames.hit[at.frame] && at.hit > 0) {
    outline(surface, at, width, ink.accent, 1.5);
  }
  if (wide >= NAMED) {
    // On what is mostly dimmed the background shows through.
    context.fillStyle = at.hit > 0.5 ? inkOn(colour) : ink.text;
    name(surface, frames.label[at.frame] ?? "", at, width);
  }
  if (place > 0 && picture.selected.has(place)) outline(surface, at, width, ink.cursor, 2);
  if (place === picture.pointed || place === picture.focus)
    outline(surface, at, width, ink.text, 2);
}

function name(surface: Surface, label: string, at: Box, width: number): void {
  const { context } = surface;
  const room = Math.floor((width - 8) / A_LETTER);
  const text = label.length > room ? `${label.slice(0, Math.max(room - 1, 1))}…` : label;
  context.save();
  context.beginPath();
  context.rect(at.left, at.top, width - 2, ROW);
  context.clip();
  context.fillText(text, at.left + 4, at.top + ROW / 2);
  context.restore();
}

function outline(surface: Surface, at: Box, width: number, colour: string, thick: number): void {
  const { context } = surface;
  context.strokeStyle = colour;
  context.lineWidth = thick;
  const inset = thick / 2;
  context.strokeRect(at.left + inset, at.top + inset, width - thick, ROW - 1 - thick);
}
