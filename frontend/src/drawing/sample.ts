/** Lives made up at random, the tile a server would answer for them, and the slow truth, for tests. */

import type { Layout } from "../state/view";
import { gapsOf } from "./gaps";
import { NONE_MAPPED, type Tile } from "./tile";

export interface Life {
  /** Alive after events `birth` … `death - 1`. */
  readonly birth: number;
  readonly death: number;
  readonly bytes: number;
  readonly band: number;
  /** Fixed place, for the layouts that have one. */
  readonly offset: number;
  readonly hit: boolean;
}

/** Numbers that look random and are the same every time (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Lives in order of birth, of very different lengths and sizes. */
export function randomLives(seed: number, count: number, events: number, most = 1000): Life[] {
  const next = random(seed);
  const births = Array.from({ length: count }, () => Math.floor(next() * events)).sort(
    (a, b) => a - b,
  );
  return births
    .map((birth) => ({
      birth: next() < 0.1 ? -1 : birth,
      death: next() < 0.1 ? events + 1 : birth + 1 + Math.floor(next() ** 4 * events),
      bytes: 1 + Math.floor(next() ** 3 * most),
      band: Math.floor(next() * 4),
      offset: Math.floor(next() * most * 8),
      hit: next() < 0.5,
    }))
    .sort((a, b) => a.birth - b.birth);
}

export const isAlive = (life: Life, event: number): boolean =>
  life.birth <= event && event < life.death;

const isLasting = ({ birth, death }: Life, events: number): boolean => birth < 0 && death > events;

export const totalAt = (lives: readonly Life[], event: number): number =>
  lives.reduce((sum, life) => sum + (isAlive(life, event) ? life.bytes : 0), 0);

export interface Wanted {
  readonly level: number;
  readonly index: number;
  /** Events of the recording. */
  readonly events: number;
  readonly pixel: number;
  readonly low?: number;
  readonly high?: number;
  readonly layout?: Layout;
  /** Columns a tile. */
  readonly columns?: number;
}

/** The highest instant of each bin of the tile, the earliest of equals. */
export function instants(
  lives: readonly Life[],
  wanted: Wanted,
): { begin: number; event: number }[] {
  const bin = 2 ** wanted.level;
  const count = wanted.columns ?? 512;
  const found: { begin: number; event: number }[] = [];
  for (let column = 0; column < count; column++) {
    const begin = (wanted.index * count + column) * bin;
    if (begin >= wanted.events) break;
    let best = begin;
    for (let event = begin + 1; event < Math.min(begin + bin, wanted.events); event++) {
      if (totalAt(lives, event) > totalAt(lives, best)) best = event;
    }
    found.push({ begin, event: best });
  }
  return found;
}

interface Seen {
  readonly life: Life;
  readonly at: number;
  readonly first: number;
  readonly last: number;
}

/** The tile as the server is asked to make it, in the plainest way. */
export function tileOf(lives: readonly Life[], wanted: Wanted): Tile {
  const layout = wanted.layout ?? "stacked";
  const shown = instants(lives, wanted);
  const low = wanted.low ?? 0;
  const high = wanted.high ?? Number.MAX_SAFE_INTEGER;
  const seen: Seen[] = lives.flatMap((life, at) => {
    const alive = shown.flatMap(({ event }, column) => (isAlive(life, event) ? [column] : []));
    return alive.length === 0
      ? []
      : [{ life, at, first: alive[0] as number, last: alive.at(-1) as number }];
  });
  const isShort = ({ first, last }: Seen) => first === last;
  const longer = seen.filter((one) => !isShort(one));
  const lives_ = { shown, seen, longer, low, high, layout, pixel: wanted.pixel };
  const drawn = longer.filter((one) => isDrawn(one, lives_));
  return {
    about: {
      level: wanted.level,
      index: wanted.index,
      bin: 2 ** wanted.level,
      axis: "event",
      layout,
      low,
      high,
      height: 0,
      pixel: wanted.pixel,
      by: "category",
      groups: [0, 1, 2, 3].map((band) => ({ key: `k${band}`, label: `band ${band}` })),
      hidden: { rows: 0, bytes: 0, left: 0, left_bytes: 0, ranges: 0, range_bytes: 0 },
      extent: 1,
      hits: null,
    },
    columns: {
      length: shown.length,
      begin: Float64Array.from(shown, ({ begin }) => begin),
      event: Float64Array.from(shown, ({ event }) => event),
      time: new Float64Array(shown.length).fill(Number.NaN),
      total: Float64Array.from(shown, ({ event }) => totalAt(lives, event)),
      count: Float64Array.from(shown, ({ event }) => lives.filter((l) => isAlive(l, event)).length),
      base: Float64Array.from(shown, (_, column) =>
        layout === "stacked" ? baseOf(longer, column, low) : 0,
      ),
    },
    rows: {
      length: drawn.length,
      allocation: Int32Array.from(drawn, ({ at }) => at),
      first: Uint16Array.from(drawn, ({ first }) => first),
      last: Uint16Array.from(drawn, ({ last }) => last),
      bytes: Float64Array.from(drawn, ({ life }) => life.bytes),
      band: Uint8Array.from(drawn, ({ life }) => life.band),
      hit: Uint8Array.from(drawn, ({ life }) => Number(life.hit)),
      offset: Float64Array.from(drawn, ({ life }) => (layout === "stacked" ? 0 : life.offset)),
      lasting: Uint8Array.from(drawn, ({ life }) => Number(isLasting(life, wanted.events))),
    },
    gaps: smallOnes(longer, drawn, shown.length, low, layout),
    mapped: NONE_MAPPED,
    blocks: new Float64Array(0),
    merged: mergedOf(
      layout === "stacked" ? seen.filter(isShort) : seen.filter((one) => !drawn.includes(one)),
      layout,
    ),
  };
}

interface Picture {
  readonly longer: readonly Seen[];
  readonly low: number;
  readonly high: number;
  readonly layout: Layout;
  readonly pixel: number;
}

/** Where a longer life lies in the stack of a column. */
function placeIn(longer: readonly Seen[], one: Seen, column: number): number {
  let bottom = 0;
  for (const other of longer) {
    if (other === one) return bottom;
    if (other.first <= column && column <= other.last) bottom += other.life.bytes;
  }
  return bottom;
}

/** Bytes of those that lie wholly below `low`: the first ones of the stack. */
function baseOf(longer: readonly Seen[], column: number, low: number): number {
  let bottom = 0;
  for (const { first, last, life } of longer) {
    if (first > column || column > last) continue;
    if (bottom + life.bytes > low) break;
    bottom += life.bytes;
  }
  return bottom;
}

/** At least a pixel tall, and in view in some column while never wholly below. */
function isDrawn(one: Seen, { longer, low, high, layout, pixel }: Picture): boolean {
  if (one.life.bytes < pixel) return false;
  if (layout !== "stacked") return true;
  for (let column = one.first; column <= one.last; column++) {
    const bottom = placeIn(longer, one, column);
    if (bottom < high && bottom + one.life.bytes > low) return low === 0;
  }
  return false;
}

/** Each small one is a part by itself, so that it stands where it is. */
function smallOnes(
  longer: readonly Seen[],
  drawn: readonly Seen[],
  columns: number,
  low: number,
  layout: Layout,
): Tile["gaps"] {
  const changes: { slot: number; part: number; life: Life; column: number; sign: number }[] = [];
  let slot = 0;
  (layout === "stacked" ? longer : []).forEach((one, part) => {
    if (drawn.includes(one)) {
      slot += 1;
      return;
    }
    let before = 0;
    for (let column = 0; column < columns; column++) {
      const below = longer
        .slice(0, part)
        .filter(({ first, last }) => first <= column && column <= last)
        .reduce((sum, { life }) => sum + life.bytes, 0);
      const isAlive = one.first <= column && column <= one.last;
      const now = isAlive && below + one.life.bytes > low ? 1 : 0;
      if (now !== before) changes.push({ slot, part, life: one.life, column, sign: now - before });
      before = now;
    }
  });
  return gapsOf({
    length: changes.length,
    slot: Int32Array.from(changes, (change) => change.slot),
    part: Int32Array.from(changes, ({ part }) => part),
    band: Uint8Array.from(changes, ({ life }) => life.band),
    hit: Uint8Array.from(changes, ({ life }) => Number(life.hit)),
    mixed: new Uint8Array(changes.length),
    column: Uint16Array.from(changes, ({ column }) => column),
    bytes: Float64Array.from(changes, ({ life, sign }) => sign * life.bytes),
    count: Int32Array.from(changes, ({ sign }) => sign),
  });
}

function mergedOf(shorts: readonly Seen[], layout: Layout): Tile["merged"] {
  const cells = new Map<string, { key: number[]; lives: Seen[] }>();
  for (const one of shorts) {
    for (let column = one.first; column <= one.last; column++) {
      const key = [column, one.life.band, layout === "stacked" ? 0 : one.life.offset];
      const cell = cells.get(key.join()) ?? { key, lives: [] };
      cell.lives.push(one);
      cells.set(key.join(), cell);
    }
  }
  const sorted = [...cells.values()].sort(
    (a, b) =>
      (a.key[0] as number) - (b.key[0] as number) || (a.key[1] as number) - (b.key[1] as number),
  );
  return {
    length: sorted.length,
    column: Uint16Array.from(sorted, ({ key }) => key[0] as number),
    last: Uint16Array.from(sorted, ({ key }) => key[0] as number),
    tall: new Uint16Array(sorted.length).fill(1),
    band: Uint8Array.from(sorted, ({ key }) => key[1] as number),
    bytes: Float64Array.from(sorted, ({ lives }) =>
      lives.reduce((s, { life }) => s + life.bytes, 0),
    ),
    count: Int32Array.from(sorted, ({ lives }) => lives.length),
    allocation: Int32Array.from(sorted, ({ lives }) =>
      lives.length === 1 ? (lives[0]?.at ?? -1) : -1,
    ),
    hit: Uint8Array.from(sorted, ({ lives }) => Number(lives.some(({ life }) => life.hit))),
    offset: Float64Array.from(sorted, ({ key }) => key[2] as number),
  };
}
