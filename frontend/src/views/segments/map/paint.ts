/** Paints segments and what is in them: each kind of byte has its own colour and its own texture. */

import type { SegmentState } from "../../../api";
import { bytes, counted } from "../../../format";
import type { Ink } from "../../../theme/theme";
import { crisp, type Surface } from "../../../timeline/paint/surface";
import { covers, type Source, type Stretch } from "./blocks";
import type { Fill } from "./groups";
import { firstBelow, type Layout, LINE, type Strip, stripsOf } from "./layout";
import { BAR, paintBlocks } from "./paintBlocks";
import { type Fills, texturesFor } from "./textures";

export interface MapScene {
  readonly whole: Source;
  /** The part in view in more detail, where it has arrived. */
  readonly detail: Source | null;
  readonly layout: Layout;
  readonly scroll: number;
  readonly height: number;
  readonly selected: readonly Stretch[];
  /** What the event at the cursor was about. */
  readonly changed: readonly Stretch[];
  readonly hovered: Stretch | null;
  readonly fill: Fill;
}

export function paintMap(surface: Surface, scene: MapScene, ink: Ink, fills: Fills): void {
  const { layout, scroll, height, whole } = scene;
  const { segments } = whole.state;
  const { context } = surface;
  const patterns = texturesFor(surface, fills, ink.background);
  context.save();
  context.translate(0, -scroll);
  paintHeads(surface, scene, ink);
  const largest = largestOfGroups(whole.state);
  for (let row = firstBelow(layout, scroll); row < segments.length; row++) {
    if ((layout.top[row] as number) > scroll + height) break;
    const detailed = detailOf(scene, row);
    for (const strip of stripsOf(layout, segments, row, scroll, scroll + height)) {
      const [source, at] = detailed(strip) ?? [whole, row];
      paintFree(surface, strip, segments.expandable[row] === 1, ink, fills);
      paintBlocks(surface, source, at, strip, { ...patterns, fill: scene.fill });
      if (largest.has(row)) paintLargest(surface, scene, row, strip, ink);
    }
  }
  for (const each of scene.changed) outline(surface, scene, each, ink.accent, 2);
  if (scene.hovered) outline(surface, scene, scene.hovered, ink.text, 1);
  for (const each of scene.selected) outline(surface, scene, each, ink.danger, 2);
  context.restore();
}

/** The detail for a strip of a segment, and the segment's row there; null where it has not all of it. */
function detailOf(
  { whole, detail }: MapScene,
  row: number,
): (strip: Strip) => readonly [Source, number] | null {
  const place = whole.state.segments.place[row] as number;
  const at = detail?.state.segments.place.indexOf(place) ?? -1;
  if (detail === null || at < 0) return () => null;
  return ({ from, to }) => (covers(detail, place + from, place + to) ? [detail, at] : null);
}

function paintHeads(surface: Surface, scene: MapScene, ink: Ink): void {
  const { context, font } = surface;
  const { layout, scroll, height, whole } = scene;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { group, top } of layout.heads) {
    if (top + LINE < scroll || top > scroll + height) continue;
    const of = whole.state.about.pools[group];
    if (of === undefined) continue;
    context.font = `500 12px ${font}`;
    context.fillStyle = ink.text;
    context.fillText(of.label, 0, top + 13);
    const start = context.measureText(of.label).width + 12;
    context.font = `11px ${font}`;
    context.fillStyle = ink.quiet;
    const free =
      of.free > 0
        ? `${bytes(of.free)} free, the largest ${bytes(of.largest_free)}`
        : "nothing free";
    const words = `${bytes(of.reserved)} in ${counted(of.segments, "segment")} · ${free}`;
    context.fillText(words, start, top + 13);
  }
}

function paintFree(
  surface: Surface,
  { x, y, width }: Strip,
  isExpandable: boolean,
  ink: Ink,
  fills: Fills,
): void {
  const { context } = surface;
  context.fillStyle = fills.free;
  context.fillRect(x, y, width, BAR);
  context.strokeStyle = ink.quiet;
  context.lineWidth = 1 / surface.ratio;
  context.setLineDash(isExpandable ? [4, 2] : []);
  context.strokeRect(crisp(surface, x), crisp(surface, y), Math.max(1, width - 1), BAR);
  context.setLineDash([]);
}

/** Of every group the segment that holds its largest free range. */
function largestOfGroups({ segments }: SegmentState): Set<number> {
  const best = new Map<number, number>();
  for (let row = 0; row < segments.length; row++) {
    const group = segments.group[row] as number;
    const other = best.get(group);
    const size = segments.largestFree[row] as number;
    if (size <= 0) continue;
    if (other === undefined || size > (segments.largestFree[other] as number)) best.set(group, row);
  }
  return new Set(best.values());
}

/** Frames the largest free range of a group, with its size where that fits. */
function paintLargest(
  surface: Surface,
  { whole }: MapScene,
  row: number,
  strip: Strip,
  ink: Ink,
): void {
  const { context, font } = surface;
  const { segments } = whole.state;
  const from = segments.largestOffset[row] as number;
  const size = segments.largestFree[row] as number;
  const [begin, end] = [Math.max(from, strip.from), Math.min(from + size, strip.to)];
  if (end <= begin) return;
  const scale = strip.width / (strip.to - strip.from);
  const left = strip.x + (begin - strip.from) * scale;
  const wide = Math.max(2, (end - begin) * scale);
  context.setLineDash([3, 3]);
  context.strokeStyle = ink.cursor;
  context.lineWidth = 1.5;
  context.strokeRect(left + 1, strip.y + 1.5, Math.max(1, wide - 2), BAR - 3);
  context.setLineDash([]);
  if (begin > from) return; // its label stands where it begins
  const text = `largest free ${bytes(size)}`;
  context.font = `11px ${font}`;
  if (context.measureText(text).width + 12 > wide) return;
  context.fillStyle = ink.quiet;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillText(text, left + 6, strip.y + BAR / 2 + 0.5);
}

function outline(
  surface: Surface,
  { layout, whole, scroll, height }: MapScene,
  { segment, from, to }: Stretch,
  colour: string,
  thick: number,
): void {
  const { context } = surface;
  context.strokeStyle = colour;
  context.lineWidth = thick;
  for (const strip of stripsOf(layout, whole.state.segments, segment, scroll, scroll + height)) {
    const [begin, end] = [Math.max(from, strip.from), Math.min(to, strip.to)];
    if (end <= begin) continue;
    const scale = strip.width / (strip.to - strip.from);
    const left = strip.x + (begin - strip.from) * scale;
    const wide = Math.max(3, (end - begin) * scale);
    context.strokeRect(left - 0.5, strip.y - 0.5, wide, BAR + 1);
  }
}
