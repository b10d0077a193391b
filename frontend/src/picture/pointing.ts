/** What is under a point of the picture: one look-up in its runs, whatever has moved since. */

import { runAt } from "../drawing/sheet";
import { gapAt, HELD, type Thing, thingOf, UNKNOWN } from "../drawing/things";
import type { Tile } from "../drawing/tile";
import { type Range, span } from "../timeline/scale";
import type { Picture } from "./pictures";

/** A point of the picture: a place on the axis and a height in bytes. */
export interface Spot {
  readonly at: number;
  readonly bytes: number;
}

export interface Pointed {
  readonly tile: Tile;
  readonly column: number;
  readonly spot: Spot;
  /** Null where nothing is alive. */
  readonly thing: Thing | null;
  /** Bytes of addresses that are mapped there, but nothing covers. */
  readonly isHeld: boolean;
  /** Bytes from and to of the pixels that show it in this column. */
  readonly reach: Range;
}

export function pointAt(picture: Picture, spot: Spot): Pointed | null {
  const { view, runs, chosen, numbers } = picture;
  const x = Math.floor(((spot.at - view.begin) / (view.end - view.begin)) * view.width);
  const y = Math.floor(((spot.bytes - view.low) / (view.high - view.low)) * view.height);
  if (x < 0 || x >= view.width || y < 0 || y >= view.height) return null;
  const tile = picture.tiles[chosen.tile[x] as number];
  const run = runAt(runs, x, y);
  const id = runs.ids[run] as number;
  if (tile === undefined || id === UNKNOWN) return null;
  const from = run === runs.from[x] ? 0 : (runs.ends[run - 1] as number);
  const to = runs.ends[run] as number;
  const scale = (view.high - view.low) / view.height;
  return {
    tile,
    column: chosen.column[x] as number,
    spot,
    thing: thingOf(numbers, id),
    isHeld: id === HELD,
    reach: { begin: view.low + from * scale, end: view.low + to * scale },
  };
}

/** The row id of the one allocation that is pointed at; null where it is none or several. */
export function allocationAt({ tile, thing }: Pointed): string | null {
  if (thing?.kind === "row") return String(tile.rows.allocation[thing.at]);
  const merged = thing?.kind === "merged" ? tile.merged.allocation[thing.at] : undefined;
  return merged === undefined || merged < 0 ? null : String(merged);
}

export interface Told {
  readonly kind: "allocation" | "several" | "gap" | "held" | "nothing";
  readonly bytes: number;
  readonly count: number;
  /** Place of its group among those of the tile; null where it has none. */
  readonly band: number | null;
  /** Whether they are all of a strip, of which some are alive at an instant. */
  readonly isStrip: boolean;
}

/** Bytes and number of what is pointed at, exact. */
export function tell({ tile, column, thing, isHeld, reach }: Pointed): Told {
  if (thing === null) {
    const kind = isHeld ? "held" : "nothing";
    return { kind, bytes: span(reach), count: 0, band: null, isStrip: false };
  }
  if (thing.kind === "gap") {
    const band = tile.gaps.band[thing.at] as number;
    const isOne = tile.gaps.mixed[thing.at] === 0 && band < tile.about.groups.length;
    const own = isOne ? band : null;
    return { kind: "gap", ...gapAt(tile, thing.at, column), band: own, isStrip: false };
  }
  const table = thing.kind === "row" ? tile.rows : tile.merged;
  const count = thing.kind === "row" ? 1 : (tile.merged.count[thing.at] as number);
  const band = table.band[thing.at] as number;
  const bytes = table.bytes[thing.at] as number;
  const isStrip =
    count > 1 && (tile.merged.last[thing.at] as number) > (tile.merged.column[thing.at] as number);
  return { kind: count === 1 ? "allocation" : "several", bytes, count, band, isStrip };
}

/** The axis units that the column pointed at stands for. */
export function binAt({ tile, column }: Pointed): Range {
  const begin = tile.columns.begin[column] as number;
  return { begin, end: begin + tile.about.bin };
}
