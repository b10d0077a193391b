/** What is said about a point of the picture, in words. */

import type { AllocationCard, FreeAnswer } from "../api";
import type { Stretch, Tile } from "../drawing/tile";
import { bytes, count, counted, exactBytes } from "../format";
import { lifeWords, programLife } from "../inspector/life";
import { type Pointed, tell } from "../picture/pointing";
import { groupLabel } from "../state/groups";
import { momentWords } from "../state/moment";
import { isPlan } from "../state/recording";
import { say } from "../state/say";
import { instantTitle } from "../timeline/readout";
import { known } from "../timeline/rows";

export interface Words {
  /** The instant: `event 3 485 · 0.413 s`. */
  readonly title: string;
  /** What it is: `12 short allocations of gradient, 3.10 MiB`. */
  readonly what: string;
  /** The group it belongs to, for its colour; null without. */
  readonly band: number | null;
  readonly lines: readonly string[];
}

/** `free` is what is known of a place that nothing drawn covers. */
export function wordsFor(
  pointed: Pointed,
  card: AllocationCard | null,
  free: FreeAnswer | null,
): Words {
  const { tile, column } = pointed;
  const event = tile.columns.event[column] as number;
  const told = tell(pointed);
  const group = groupWords(tile, told.band);
  return {
    title: instantTitle(event, known(tile.columns.time[column])),
    what: told.kind === "held" ? heldWords(free) : whatWords(pointed, told, group),
    band: told.band,
    lines: [...linesOf(pointed, told.kind, card, free), totalWords(tile, column)],
  };
}

/** ` of Gradient`; what is no group by name stands apart: `, before the window`. */
export function groupWords(tile: Tile, band: number | null): string {
  const group = band === null ? undefined : tile.about.groups[band];
  if (group === undefined) return "";
  if (group.key.startsWith("…")) return `, ${group.label}`;
  return ` of ${groupLabel(group.label, tile.about.by)}`;
}

function whatWords(
  pointed: Pointed,
  { kind, bytes: size, count: number, isStrip }: ReturnType<typeof tell>,
  group: string,
): string {
  switch (kind) {
    case "allocation":
      return `${bytes(size)}${group}`;
    case "several": {
      if (isStrip) {
        return `a strip of ${count(number)} small ${say("allocations")}${group}, one after another: ${bytes(size)} in all`;
      }
      const which = pointed.tile.about.layout === "stacked" ? "short" : "small or short";
      return `${count(number)} ${which} ${say("allocations")}${group}, ${bytes(size)}`;
    }
    case "gap":
      return `${counted(number, `smaller ${say("allocation")}`)}${group}, ${bytes(size)}`;
    case "held":
      return "mapped";
    case "nothing":
      return nothingWords(pointed.tile);
  }
}

function nothingWords({ about }: Tile): string {
  if (about.layout !== "address") return "nothing is alive here";
  if (isPlan.value) return "not in use here";
  if (!about.mapped_known) return "nothing is known to be mapped here";
  return about.hidden.ranges > 0 ? "not mapped, or too small a range to be shown" : "not mapped";
}

/** What is mapped there, but drawn as no allocation: a hole, or what the picture leaves out. */
function heldWords(free: FreeAnswer | null): string {
  if (free === null) return "mapped";
  if (free.hole !== null) return "mapped, but not allocated";
  return free.block === null ? "not mapped" : "allocated, but not drawn";
}

/** The hole to the byte, and the segment it is in. */
function freeLines({ hole, block, holes }: FreeAnswer): string[] {
  const part = hole ?? block;
  if (part === null) return [];
  const size = `${bytes(part.size)} (${exactBytes(part.size)})`;
  const rounding = block === null ? 0 : block.size - block.requested;
  const lines = [
    hole === null ? `a block of ${size}` : `a hole of ${size}`,
    holes > 1 ? `one of ${count(holes)} holes in this pixel; zoom in to tell them apart` : "",
    hole === null && rounding > 0 ? `${exactBytes(rounding)} of it rounding` : "",
    `from ${part.address}, in a segment of ${bytes(part.segment.size)} from ${part.segment.address}`,
    `${bytes(part.segment.free)} of the segment are free`,
  ];
  return lines.filter((line) => line !== "");
}

function linesOf(
  pointed: Pointed,
  kind: ReturnType<typeof tell>["kind"],
  card: AllocationCard | null,
  free: FreeAnswer | null,
): string[] {
  const lines: string[] = [];
  if (kind === "allocation") {
    lines.push(exactBytes(tell(pointed).bytes));
    if (card !== null) lines.push(...cardLines(card));
    lines.push("Click to have it explained");
  }
  if (kind === "held" && free !== null) return freeLines(free);
  if (kind === "several") lines.push("Click to zoom in on them");
  if (kind === "gap") lines.push("Click to zoom in until they can be seen");
  const place = pointed.tile.about.layout === "address" ? addressAt(pointed) : null;
  if (place !== null) lines.push(place);
  return lines;
}

/** What its card adds: name and type, what made it, where, and how long it lives. */
function cardLines(card: AllocationCard): string[] {
  const type = [card.dtype, card.shape].filter(Boolean).join(" ");
  const made = [card.op, card.module && `in ${card.module}`].filter(Boolean).join(" ");
  const frame = card.birth_stack?.find(({ library }) => !library) ?? card.birth_stack?.[0];
  const place = frame && `${frame.function}${frame.line ? `, line ${frame.line}` : ""}`;
  return [
    [card.name, type].filter(Boolean).join(" · "),
    made,
    place ?? "",
    isPlan.value ? programLife(card.birth, card.death) : lifeWords(card, momentWords),
  ].filter((line) => line !== "");
}

function totalWords(tile: Tile, column: number): string {
  const total = tile.columns.total[column] as number;
  const number = tile.columns.count[column] as number;
  return `${bytes(total)} in ${counted(number, say("allocation"))} at this instant`;
}

function stretchAt(tile: Tile, place: number): Stretch | null {
  const found = tile.about.segments?.find(
    ({ offset, size }) => offset <= place && place < offset + size,
  );
  return found ?? null;
}

/** The address at a height of the address layout, to what a pixel tells. */
function addressAt({ tile, spot }: Pointed): string | null {
  const stretch = stretchAt(tile, spot.bytes);
  if (stretch === null) return null;
  if (isPlan.value) return `about ${bytes(spot.bytes)} from the bottom of the memory space`;
  const off = BigInt(Math.floor(spot.bytes - stretch.offset));
  const address = (BigInt(stretch.address) + off).toString(16);
  return `about 0x${address}, in ${bytes(stretch.size)} of addresses from ${stretch.address}`;
}
