import { describe, expect, it } from "vitest";
import { fill as fillSheet } from "./raster";
import {
  instants,
  isAlive,
  type Life,
  random,
  randomLives,
  tileOf,
  totalAt,
  type Wanted,
} from "./sample";
import type { Sheet, View } from "./sheet";
import { gapAt, HELD, NOTHING, thingOf, UNKNOWN } from "./things";
import type { Tile } from "./tile";

const EVENTS = 400;

/** A number a pixel, column after column. */
function pixelsOf({ width, height, from, to, ids, ends }: Sheet): Int32Array {
  const pixels = new Int32Array(width * height);
  for (let x = 0; x < width; x++) {
    let y = 0;
    for (let run = from[x] as number; run < (to[x] as number); run++) {
      for (; y < (ends[run] as number); y++) pixels[x * height + y] = ids[run] as number;
    }
    expect(y).toBe(height);
  }
  return pixels;
}

const fill = (...given: Parameters<typeof fillSheet>) => {
  const raster = fillSheet(...given);
  return { ...raster, ids: pixelsOf(raster.sheet) };
};

interface Part {
  readonly at: number;
  readonly isShort: boolean;
  readonly from: number;
  readonly to: number;
}

/** What stands in a column from bottom to top, life by life: the slow truth of the stacked layout. */
function stacks(lives: readonly Life[], shown: readonly { event: number }[]): Part[][] {
  const seen = lives.map((life) => shown.filter(({ event }) => isAlive(life, event)).length);
  return shown.map(({ event }) => {
    const alive = lives.map((_, at) => at).filter((at) => isAlive(lives[at] as Life, event));
    const long = alive.filter((at) => (seen[at] as number) > 1);
    const short = alive.filter((at) => seen[at] === 1);
    short.sort((a, b) => (lives[a] as Life).band - (lives[b] as Life).band);
    let bottom = 0;
    return [...long, ...short].map((at) => {
      const from = bottom;
      bottom += (lives[at] as Life).bytes;
      return { at, isShort: seen[at] === 1, from, to: bottom };
    });
  });
}

const wholeView = (lives: readonly Life[], pixels: Partial<View>): View => ({
  begin: 0,
  end: EVENTS,
  low: 0,
  high: Math.max(...Array.from({ length: EVENTS }, (_, event) => totalAt(lives, event))) * 1.1,
  width: EVENTS,
  height: 150,
  ...pixels,
});

/** Every pixel of a picture (a column of the tile a pixel) that is not what the slow truth says. */
function differences(lives: readonly Life[], tile: Tile, wanted: Wanted, view: View): string[] {
  const { ids, chosen, numbers } = fill([tile], [{ tile: 0, begin: 0, end: EVENTS }], view);
  const expected = stacks(lives, instants(lives, wanted));
  const wrong: string[] = [];
  for (let x = 0; x < view.width; x++) {
    const column = chosen.column[x] as number;
    if (column !== x) wrong.push(`column ${x} shows ${column}`);
    for (let y = 0; y < view.height; y++) {
      const bytes = view.low + ((y + 0.5) * (view.high - view.low)) / view.height;
      const part = expected[column]?.find(({ from, to }) => from < bytes && bytes <= to);
      const id = ids[x * view.height + y] as number;
      const said = words(tile, thingOf(numbers, id));
      const meant = part === undefined ? "nothing" : meaning(lives, part, wanted.pixel);
      if (said !== meant) wrong.push(`${x}, ${y}: ${said}, not ${meant}`);
    }
  }
  return wrong;
}

function words(tile: Tile, thing: ReturnType<typeof thingOf>): string {
  if (thing === null) return "nothing";
  if (thing.kind === "row") return `row of ${tile.rows.allocation[thing.at]}`;
  const band = (thing.kind === "merged" ? tile.merged : tile.gaps).band[thing.at];
  return `${thing.kind} in ${band}`;
}

function meaning(lives: readonly Life[], { at, isShort }: Part, pixel: number): string {
  const { band, bytes } = lives[at] as Life;
  if (isShort) return `merged in ${band}`;
  return bytes < pixel ? `gap in ${band}` : `row of ${at}`;
}

describe("the raster", () => {
  for (const seed of [1, 2, 3, 4]) {
    it(`is what brute force draws, all rows (${seed})`, () => {
      const lives = randomLives(seed, 120, EVENTS);
      const wanted = { level: 0, index: 0, events: EVENTS, pixel: 1 };
      expect(differences(lives, tileOf(lives, wanted), wanted, wholeView(lives, {}))).toEqual([]);
    });
    it(`has gaps where brute force has small ones (${seed})`, () => {
      const lives = randomLives(seed + 10, 160, EVENTS);
      const wanted = { level: 0, index: 0, events: EVENTS, pixel: 200 };
      // Fine pixels, so that every gap has some.
      const view = wholeView(lives, { height: 1500 });
      expect(differences(lives, tileOf(lives, wanted), wanted, view)).toEqual([]);
    });
  }

  it("is what brute force draws where most of a column is that of the one before", () => {
    const lives = randomLives(21, 1100, EVENTS);
    const wanted = { level: 0, index: 0, events: EVENTS, pixel: 60 };
    const tile = tileOf(lives, wanted);
    expect(tile.rows.length + tile.gaps.count).toBeGreaterThan(3 * 256);
    const view = wholeView(lives, { height: 900 });
    expect(differences(lives, tile, wanted, view)).toEqual([]);
    // Cut off above: what is piled up there is left out, and is there again where it sinks.
    const cut = { ...view, high: view.high / 3, height: 300 };
    expect(differences(lives, tile, wanted, cut)).toEqual([]);
  }, 60_000);

  it.each([
    ["stacked", 4096, ["row", "gap"]],
    ["address", 8192, ["row", "merged", "nothing"]],
    ["lane", 8192, ["row", "merged", "nothing"]],
  ] as const)("moves nothing when it is zoomed in y (%s)", (layout, high, kinds) => {
    const lives = randomLives(7, 150, EVENTS);
    const whole = wholeView(lives, { high, height: 512 });
    const tile = tileOf(lives, { level: 0, index: 0, events: EVENTS, pixel: 8, layout });
    const all = fill([tile], [{ tile: 0, begin: 0, end: EVENTS }], whole);
    const part = { ...whole, low: high / 4, high: high / 2, height: 128 };
    const zoomed = fill([tile], [{ tile: 0, begin: 0, end: EVENTS }], part);
    const seen = new Set<string>();
    for (let x = 0; x < EVENTS; x++) {
      const expected = all.ids.slice(x * 512 + 128, x * 512 + 256);
      expect(zoomed.ids.slice(x * 128, (x + 1) * 128)).toEqual(expected);
      for (const id of expected) seen.add(thingOf(all.numbers, id)?.kind ?? "nothing");
    }
    expect(seen).toEqual(new Set(kinds));
  });

  it("adds up to the total of every column", () => {
    const lives = randomLives(5, 200, EVENTS);
    const tile = tileOf(lives, { level: 1, index: 0, events: EVENTS, pixel: 100, columns: 512 });
    for (let column = 0; column < tile.columns.length; column++) {
      let sum = tile.columns.base[column] as number;
      for (let gap = 0; gap < tile.gaps.count; gap++) sum += gapAt(tile, gap, column).bytes;
      for (let row = 0; row < tile.rows.length; row++) {
        const isIn =
          (tile.rows.first[row] as number) <= column && (tile.rows.last[row] as number) >= column;
        if (isIn) sum += tile.rows.bytes[row] as number;
      }
      for (let at = 0; at < tile.merged.length; at++) {
        if (tile.merged.column[at] === column) sum += tile.merged.bytes[at] as number;
      }
      expect(sum).toBe(tile.columns.total[column]);
    }
  });

  it("stands on the bytes that lie below", () => {
    const lives = randomLives(9, 60, EVENTS);
    const base = 700;
    const tile = tileOf(lives, { level: 0, index: 0, events: EVENTS, pixel: 1 });
    const raised: Tile = {
      ...tile,
      columns: { ...tile.columns, base: tile.columns.base.map(() => base) },
    };
    const view = wholeView(lives, { high: 8000, height: 8000 });
    const parts = [{ tile: 0, begin: 0, end: EVENTS }];
    const before = fill([tile], parts, view).ids;
    const after = fill([raised], parts, view).ids;
    for (let x = 0; x < EVENTS; x += 13) {
      const at = x * 8000;
      expect(after.slice(at + base, at + 8000)).toEqual(before.slice(at, at + 8000 - base));
      expect(after.slice(at, at + base).every((id) => id === NOTHING)).toBe(true);
    }
  });

  it("puts lives with a place where it is, over what is too small", () => {
    const life = (birth: number, death: number, bytes: number, offset: number): Life => ({
      birth,
      death,
      bytes,
      offset,
      band: 1,
      hit: true,
    });
    const lives = [life(0, 8, 40, 100), life(2, 6, 2, 20), life(4, 5, 64, 200)];
    const wanted: Wanted = { level: 0, index: 0, events: 8, pixel: 4, layout: "address" };
    const tile = tileOf(lives, wanted);
    const view: View = { begin: 0, end: 8, low: 0, high: 320, width: 8, height: 80 };
    const { ids, numbers } = fill([tile], [{ tile: 0, begin: 0, end: 8 }], view);
    const at = (x: number, bytes: number) => ids[x * 80 + bytes / 4] as number;
    expect(thingOf(numbers, at(0, 120))).toEqual({ tile: 0, kind: "row", at: 0 });
    expect(at(0, 140)).toBe(NOTHING);
    expect(at(0, 96)).toBe(NOTHING);
    expect(thingOf(numbers, at(3, 20))?.kind).toBe("merged");
    expect(at(3, 24)).toBe(NOTHING);
    expect(thingOf(numbers, at(4, 200))?.kind).toBe("merged");
    expect(at(1, 20)).toBe(NOTHING);
  });

  it("shades by address what is mapped at each instant, and draws blocks with their rounding", () => {
    const next = random(31);
    const lives: Life[] = [];
    const ranges: { first: number; last: number; offset: number; size: number }[] = [];
    // Places of their own, so that nothing overlaps: 16 slots of 40 bytes.
    for (let slot = 0; slot < 16; slot++) {
      const first = Math.floor(next() * 20);
      const last = first + Math.floor(next() * (20 - first));
      ranges.push({ first, last, offset: slot * 40, size: 40 - Math.floor(next() * 8) });
      const birth = first + Math.floor(next() * (last - first + 1));
      const bytes = 5 + Math.floor(next() * 10);
      const offset = slot * 40 + Math.floor(next() * 8);
      lives.push({ birth, death: last + 1, bytes, band: 1, offset, hit: true });
    }
    lives.sort((a, b) => a.birth - b.birth);
    const plain = tileOf(lives, { level: 0, index: 0, events: 20, pixel: 1, layout: "address" });
    const rounding = 3;
    const tile: Tile = {
      ...plain,
      mapped: {
        length: ranges.length,
        first: Uint16Array.from(ranges, ({ first }) => first),
        last: Uint16Array.from(ranges, ({ last }) => last),
        offset: Float64Array.from(ranges, ({ offset }) => offset),
        size: Float64Array.from(ranges, ({ size }) => size),
      },
      blocks: plain.rows.bytes.map((bytes) => bytes + rounding),
    };
    const view: View = { begin: 0, end: 20, low: 0, high: 640, width: 20, height: 640 };
    const { ids, numbers } = fill([tile], [{ tile: 0, begin: 0, end: 20 }], view);
    const seen = new Set<string>();
    for (let column = 0; column < 20; column++) {
      for (let y = 0; y < 640; y++) {
        const id = ids[column * 640 + y] as number;
        const kind = thingOf(numbers, id)?.kind ?? (id === HELD ? "held" : "nothing");
        const isMapped = ranges.some(
          ({ first, last, offset, size }) =>
            first <= column && column <= last && offset <= y && y < offset + size,
        );
        const alive = lives.find(
          (life) => isAlive(life, column) && life.offset <= y && y < life.offset + life.bytes,
        );
        const isRounding = [...tile.rows.offset].some(
          (offset, row) =>
            (tile.rows.first[row] as number) <= column &&
            column <= (tile.rows.last[row] as number) &&
            offset <= y &&
            y < offset + (tile.blocks[row] as number),
        );
        if (alive === undefined && !isRounding) expect(kind).toBe(isMapped ? "held" : "nothing");
        else if (isRounding) expect(kind).toBe("row");
        seen.add(kind);
      }
    }
    expect(seen).toContain("held");
    expect(seen).toContain("nothing");
  });

  it("leaves open what no tile tells", () => {
    const lives = randomLives(3, 30, EVENTS);
    const tile = tileOf(lives, { level: 0, index: 0, events: EVENTS, pixel: 1 });
    const view = wholeView(lives, { begin: 0, end: EVENTS });
    const { ids } = fill([tile], [{ tile: 0, begin: 100, end: 200 }], view);
    expect(ids[99 * view.height]).toBe(UNKNOWN);
    expect(ids[100 * view.height]).not.toBe(UNKNOWN);
    expect(ids[199 * view.height]).not.toBe(UNKNOWN);
    expect(ids[200 * view.height]).toBe(UNKNOWN);
  });
});

describe("the columns chosen", () => {
  it("keep the highest of the bins that share a pixel", () => {
    const lives = randomLives(11, 100, EVENTS);
    const tile = tileOf(lives, { level: 0, index: 0, events: EVENTS, pixel: 1 });
    const view = wholeView(lives, { width: 37 });
    const { chosen } = fill([tile], [{ tile: 0, begin: 0, end: EVENTS }], view);
    for (let x = 0; x < 37; x++) {
      const begins = Array.from({ length: EVENTS }, (_, event) => event).filter(
        (event) => event >= (x * EVENTS) / 37 && event < ((x + 1) * EVENTS) / 37,
      );
      const most = Math.max(...begins.map((event) => totalAt(lives, event)));
      expect(tile.columns.total[chosen.column[x] as number]).toBe(most);
    }
  });

  it("are the same however the bins are cut into tiles", () => {
    const lives = randomLives(13, 100, EVENTS);
    const whole = tileOf(lives, { level: 0, index: 0, events: EVENTS, pixel: 1 });
    for (const width of [37, 300, 371, 399]) {
      const view = wholeView(lives, { width });
      const one = fill([whole], [{ tile: 0, begin: 0, end: EVENTS }], view).chosen.column;
      for (const columns of [64, 100]) {
        const count = Math.ceil(EVENTS / columns);
        const cut = Array.from({ length: count }, (_, index) =>
          tileOf(lives, { level: 0, index, events: EVENTS, pixel: 1, columns }),
        );
        const parts = cut.map((_, tile) => ({
          tile,
          begin: tile * columns,
          end: (tile + 1) * columns,
        }));
        const { chosen } = fill(cut, parts, view);
        const events = Array.from(
          chosen.column,
          (at, x) => at + columns * (chosen.tile[x] as number),
        );
        expect(events).toEqual([...one]);
      }
    }
  });

  it("show a bin as long as it lasts, and bins of two tiles side by side", () => {
    const lives = randomLives(12, 100, EVENTS);
    const fine = tileOf(lives, { level: 2, index: 0, events: EVENTS, pixel: 1, columns: 50 });
    const coarse = tileOf(lives, { level: 3, index: 0, events: EVENTS, pixel: 1, columns: 512 });
    const parts = [
      { tile: 0, begin: 0, end: 200 },
      { tile: 1, begin: 200, end: EVENTS },
    ];
    const view = wholeView(lives, { width: EVENTS });
    const { chosen } = fill([fine, coarse], parts, view);
    for (let x = 0; x < EVENTS; x++) {
      expect(chosen.tile[x]).toBe(x < 200 ? 0 : 1);
      expect(chosen.column[x]).toBe(Math.floor(x / (x < 200 ? 4 : 8)));
    }
  });
});
