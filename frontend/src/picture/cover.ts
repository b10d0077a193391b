/** A window put together from the tiles that are at hand: the right ones, else what comes nearest. */

import type { Range } from "../timeline/scale";
import { type Place, rangeOf, type Shape } from "./grid";

/** A tile that has arrived, by the name it is kept under. */
export interface Held extends Place, Shape {
  readonly key: string;
}

export interface CoverPart extends Range {
  readonly key: string;
}

export interface Cover {
  readonly parts: readonly CoverPart[];
  /** Places that something else stands in for, or nothing. */
  readonly missing: readonly Place[];
}

/** How many levels finer or coarser another tile may be to stand in. */
const FINER = 2;
const COARSER = 60;

/** Covers `places`; what stands in must show all of the `bytes` seen. */
export function cover(
  places: readonly Place[],
  shape: Shape,
  bytes: Range,
  held: readonly Held[],
): Cover {
  const exact = new Map<string, string>();
  const best = new Map<string, Held>();
  for (const one of held) {
    if (one.low === shape.low && one.high === shape.high && one.height === shape.height) {
      exact.set(nameOf(one), one.key);
    }
    if (one.low > bytes.begin || one.high < Math.min(bytes.end, shape.high)) continue;
    const other = best.get(nameOf(one));
    if (other === undefined || pixelOf(one) < pixelOf(other)) best.set(nameOf(one), one);
  }
  const parts: CoverPart[] = [];
  const missing: Place[] = [];
  for (const place of places) {
    const key = exact.get(nameOf(place));
    if (key !== undefined) parts.push({ key, ...rangeOf(place) });
    else {
      missing.push(place);
      parts.push(...standIns(place, best));
    }
  }
  return { parts, missing };
}

const nameOf = ({ level, index }: Place): string => `${level}/${index}`;
const pixelOf = ({ low, high, height }: Shape): number => (high - low) / height;

function standIns(place: Place, held: ReadonlyMap<string, Held>): CoverPart[] {
  const same = held.get(nameOf(place));
  if (same !== undefined) return [{ key: same.key, ...rangeOf(place) }];
  for (let finer = 1; finer <= Math.min(FINER, place.level); finer++) {
    const found: CoverPart[] = [];
    const count = 2 ** finer;
    for (let part = 0; part < count; part++) {
      const child = { level: place.level - finer, index: place.index * count + part };
      const one = held.get(nameOf(child));
      if (one !== undefined) found.push({ key: one.key, ...rangeOf(child) });
    }
    if (found.length === count) return found;
  }
  for (let coarser = 1; coarser <= COARSER; coarser++) {
    const parent = { level: place.level + coarser, index: Math.floor(place.index / 2 ** coarser) };
    const one = held.get(nameOf(parent));
    if (one !== undefined) return [{ key: one.key, ...rangeOf(place) }];
  }
  return [];
}
