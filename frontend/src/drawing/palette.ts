/** Colours of a picture, worked out a thing at a time: changing them needs no new layout. */

import { firstsOf, HELD, LOWEST, NOTHING, type Numbering } from "./things";
import type { Tile } from "./tile";

/** Colours as `#rrggbb`. */
export interface Palette {
  /** A colour a band, for each tile of the picture. */
  readonly bands: readonly (readonly string[])[];
  readonly background: string;
  /** What is too small to be drawn by itself: paler than its group, or this where it is of several. */
  readonly gap: string;
  /** Mapped addresses that nothing covers. */
  readonly held: string;
  readonly outline: string;
  /** Bands that stand back, a list a tile. */
  readonly faint: readonly (readonly number[])[];
  /** Row of the selected allocation, and of those from the same stack. */
  readonly selected: number | null;
  readonly siblings: readonly number[];
  /** Whether what is there from the beginning to the end stands out. */
  readonly lasting: boolean;
  /** Whether something is searched for: what is not a hit then stands back. */
  readonly searching: boolean;
}

/** Colours as the four bytes of a pixel. */
export interface Colours {
  /** Two a thing, at its number less the lowest one: of its pixels, and of the uppermost of them. */
  readonly shades: Int32Array;
  /** Numbers of the selected one, and the colour of the lines on it and on its siblings. */
  readonly selected: ReadonlySet<number>;
  readonly outline: number;
  readonly background: number;
}

/**
 * The opacity of the edge of what is to be marked (the selected one and its siblings), of what is there
 * all the time, and that of all others: a look-up of its own for every run would cost as much again as
 * painting it.
 */
export const MARKED = 254;
export const LASTING = 253;
export const OPAQUE = 255 << 24;

/** Pixels a thing must be tall to have an edge that tells it from the one above. */
const TALL = 4;
/** Share of the background in what stands back and in what is too small, and of black in an edge. */
const FAINT = 0.78;
const PALE = 0.35;
const EDGE = 0.22;

type Channels = readonly [number, number, number];

const BLACK: Channels = [0, 0, 0];

const channels = (colour: string): Channels => [
  Number.parseInt(colour.slice(1, 3), 16),
  Number.parseInt(colour.slice(3, 5), 16),
  Number.parseInt(colour.slice(5, 7), 16),
];

function mixed(colour: Channels, other: Channels, share: number): Channels {
  const part = (at: 0 | 1 | 2) => Math.round(colour[at] + (other[at] - colour[at]) * share);
  return [part(0), part(1), part(2)];
}

/** The four bytes as one little-endian integer; signed, since engines are quicker with those. */
const packed = ([red, green, blue]: Channels): number => OPAQUE | (blue << 16) | (green << 8) | red;

/** The colours for tiles; a pixel has `1 / scale` bytes. */
export function coloursOf(
  tiles: readonly Tile[],
  numbers: Numbering,
  palette: Palette,
  scale: number,
): Colours {
  const shades = new Int32Array(2 * (numbers.end - LOWEST));
  const selected = new Set<number>();
  const siblings = new Set(palette.siblings);
  shades.fill(
    packed(channels(palette.background)),
    2 * (NOTHING - LOWEST),
    2 * (NOTHING - LOWEST + 1),
  );
  shades.fill(packed(channels(palette.held)), 2 * (HELD - LOWEST), 2 * (HELD - LOWEST + 1));
  tiles.forEach((tile, index) => {
    const { rows, merged, gaps } = firstsOf(numbers, index);
    const bands = bandsOf(palette, index);
    const tall = TALL / scale;
    const isStacked = tile.about.layout === "stacked";
    // Where places are fixed, merged cells are as tall as they say, whatever is in them.
    const { pixel } = tile.about;
    const cells = isStacked ? tile.merged.bytes : tile.merged.tall;
    shadeAll(shades, rows, tile.rows, tile.rows.bytes, bands, palette.searching, tall);
    shadeAll(
      shades,
      merged,
      tile.merged,
      cells,
      bands,
      palette.searching,
      isStacked ? tall : tall / pixel,
    );
    shadeGaps(shades, gaps, tile, gapsOf(palette, index), palette.searching);
    if (palette.lasting) markLasting(shades, rows, tile.rows);
    if (palette.selected === null && siblings.size === 0) return;
    markAll(shades, rows, tile.rows, palette.selected, siblings, selected);
    markAll(shades, merged, tile.merged, palette.selected, siblings, selected);
  });
  const [outline, background] = [palette.outline, palette.background].map(channels).map(packed);
  return { shades, selected, outline: outline as number, background: background as number };
}

/** An edge goes by the size of a thing, so that it has one in all of its columns or in none. */
function shadeAll(
  shades: Int32Array,
  first: number,
  { band, hit }: Tile["rows" | "merged"],
  sizes: ArrayLike<number>,
  bands: Int32Array,
  searching: boolean,
  tall: number,
): void {
  const none = bands.length - 4;
  let into = 2 * (first - LOWEST);
  for (let at = 0; at < band.length; at++, into += 2) {
    const shade = Math.min(4 * (band[at] as number), none) + (searching && hit[at] !== 1 ? 2 : 0);
    shades[into] = bands[shade] as number;
    shades[into + 1] = bands[(sizes[at] as number) < tall ? shade : shade + 1] as number;
  }
}

function shadeGaps(
  shades: Int32Array,
  first: number,
  { gaps }: Tile,
  bands: Int32Array,
  searching: boolean,
): void {
  const none = bands.length - 2;
  let into = 2 * (first - LOWEST);
  for (let at = 0; at < gaps.count; at++, into += 2) {
    const shade = Math.min(2 * (gaps.band[at] as number), none);
    const colour = bands[searching && gaps.hit[at] === 0 ? shade + 1 : shade] as number;
    shades[into] = colour;
    shades[into + 1] = colour;
  }
}

/** Marks the chosen one and its siblings, and notes the numbers of the former. */
function markAll(
  shades: Int32Array,
  first: number,
  { allocation }: Tile["rows" | "merged"],
  chosen: number | null,
  siblings: ReadonlySet<number>,
  selected: Set<number>,
): void {
  for (let at = 0; at < allocation.length; at++) {
    const one = allocation[at] as number;
    if (one === chosen) selected.add(first + at);
    else if (one < 0 || !siblings.has(one)) continue;
    mark(shades, first + at, MARKED);
  }
}

/** Marks what is there all the time: several, each a pixel tall, make an area together. */
function markLasting(shades: Int32Array, first: number, { lasting, length }: Tile["rows"]): void {
  for (let at = 0; at < length; at++) {
    if (lasting[at] === 1) mark(shades, first + at, LASTING);
  }
}

function mark(shades: Int32Array, number: number, opacity: number): void {
  const edge = 2 * (number - LOWEST) + 1;
  shades[edge] = ((shades[edge] as number) & ~OPAQUE) | (opacity << 24);
}

/** Two colours of gaps a band, and of none last: by itself, and standing back in a search. */
function gapsOf(palette: Palette, tile: number): Int32Array {
  const background = channels(palette.background);
  const back = new Set(palette.faint[tile]);
  const colours = (palette.bands[tile] ?? []).flatMap((name, band) => {
    const colour = channels(name);
    const faint = packed(mixed(colour, background, FAINT));
    return [back.has(band) ? faint : packed(mixed(colour, background, PALE)), faint];
  });
  const none = channels(palette.gap);
  return Int32Array.of(...colours, packed(none), packed(mixed(none, background, FAINT)));
}

/** Four colours a band of a tile, and of none last: bright, its edge, standing back, its edge. */
function bandsOf(palette: Palette, tile: number): Int32Array {
  const background = channels(palette.background);
  const back = new Set(palette.faint[tile]);
  const bands = palette.bands[tile] ?? [];
  const shades = new Int32Array(4 * (bands.length + 1));
  bands.concat(palette.gap).forEach((name, band) => {
    const colour = channels(name);
    const faint = mixed(colour, background, FAINT);
    const bright = [packed(colour), packed(mixed(colour, BLACK, EDGE))] as const;
    const dim = [packed(faint), packed(mixed(faint, colour, EDGE))] as const;
    if (band === bands.length) shades.set([...bright, ...bright], 4 * band);
    else shades.set([...(back.has(band) ? dim : bright), ...dim], 4 * band);
  });
  return shades;
}
