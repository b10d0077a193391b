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
  /** Whether something is searched for: what is not a hit then stands back. */
  readonly searching: boolean;
}

/** What is special about a thing. */
export const PLAIN = 0;
export const SELECTED = 1;
export const SIBLING = 2;

/** Colours as the four bytes of a pixel, at the number of a thing less the lowest number. */
export interface Colours {
  readonly plain: Int32Array;
  /** The same for the upper edge of a thing tall enough to have one. */
  readonly edge: Int32Array;
  readonly flag: Uint8Array;
  /** Whether any thing has a flag. */
  readonly isMarked: boolean;
  readonly outline: number;
}

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
const packed = ([red, green, blue]: Channels): number =>
  (255 << 24) | (blue << 16) | (green << 8) | red;

interface Shade {
  readonly plain: number;
  readonly edge: number;
}

function shade(colour: Channels, edgeTo: Channels): Shade {
  return { plain: packed(colour), edge: packed(mixed(colour, edgeTo, EDGE)) };
}

export function coloursOf(tiles: readonly Tile[], numbers: Numbering, palette: Palette): Colours {
  const plain = new Int32Array(numbers.end - LOWEST);
  const edge = new Int32Array(plain.length);
  const flag = new Uint8Array(plain.length);
  const siblings = new Set(palette.siblings);
  let isMarked = false;
  plain[NOTHING - LOWEST] = packed(channels(palette.background));
  plain[HELD - LOWEST] = packed(channels(palette.held));
  tiles.forEach((tile, index) => {
    const shadeOf = shadesOf(palette, index);
    const table = (first: number, things: Tile["rows"] | Tile["merged"]) => {
      for (let at = 0; at < things.length; at++) {
        const place = first - LOWEST + at;
        const shade = shadeOf(things.band[at] as number, things.hit[at] === 1);
        plain[place] = shade.plain;
        edge[place] = shade.edge;
        const allocation = things.allocation[at] as number;
        if (allocation < 0) continue;
        if (allocation === palette.selected) flag[place] = SELECTED;
        else if (siblings.has(allocation)) flag[place] = SIBLING;
        else continue;
        isMarked = true;
      }
    };
    const { rows, merged, gaps } = firstsOf(numbers, index);
    table(rows, tile.rows);
    table(merged, tile.merged);
    const gapOf = gapsOf(palette, index);
    for (let at = 0; at < tile.gaps.count; at++) {
      const colour = gapOf(tile.gaps.band[at] as number);
      plain[gaps - LOWEST + at] = colour;
      edge[gaps - LOWEST + at] = colour;
    }
  });
  return { plain, edge, flag, isMarked, outline: packed(channels(palette.outline)) };
}

/** The colours of gaps by band; they stand back while something is searched for, or another picked. */
function gapsOf(palette: Palette, tile: number): (band: number) => number {
  const background = channels(palette.background);
  const back = new Set(palette.faint[tile]);
  const pale = (colour: string, isBack: boolean) =>
    packed(mixed(channels(colour), background, isBack ? FAINT : PALE));
  const colours = (palette.bands[tile] ?? []).map((colour, band) =>
    pale(colour, palette.searching || back.has(band)),
  );
  const none = packed(channels(palette.gap));
  return (band) => colours[band] ?? none;
}

/** The colours of a tile's bands, bright or standing back. */
function shadesOf(palette: Palette, tile: number): (band: number, hit: boolean) => Shade {
  const background = channels(palette.background);
  const back = new Set(palette.faint[tile]);
  const colours = (palette.bands[tile] ?? []).map(channels);
  const bright = colours.map((colour) => shade(colour, BLACK));
  const dim = colours.map((colour) => shade(mixed(colour, background, FAINT), colour));
  const none = shade(channels(palette.gap), BLACK);
  return (band, hit) =>
    (back.has(band) || (palette.searching && !hit) ? dim : bright)[band] ?? none;
}
