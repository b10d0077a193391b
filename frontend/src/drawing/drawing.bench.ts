/**
 * What drawing costs: layout, colours and a look-up, for 20 000 allocations at 1600 × 800. Bundled as
 * the worker is before it is run (scripts/bench.mjs): modules by themselves are slower than what the
 * user runs. Prints JSON: milliseconds by name.
 */

import type { Part } from "./columns";
import { gapsOf } from "./gaps";
import { paint } from "./paint";
import { coloursOf, type Palette } from "./palette";
import { fill } from "./raster";
import { random } from "./sample";
import { runAt, type View } from "./sheet";
import { gapAt, thingOf } from "./things";
import { NONE_MAPPED, type Tile } from "./tile";

const TILES = 6;
const COLUMNS = 512;
const ROWS = 20_000 / TILES;
const PEAK = 800;

/** A full tile: rows that live a twelfth of it on average, as many gaps as rows, some cells. */
function fullTile(index: number): Tile {
  const next = random(index + 1);
  const length = Math.floor(ROWS);
  const first = Uint16Array.from({ length }, () => Math.floor(next() * COLUMNS)).sort();
  const last = first.map((at) => Math.min(COLUMNS - 1, at + 1 + Math.floor(next() * 84)));
  const rows = {
    length,
    allocation: Int32Array.from(first, (_, at) => at),
    first,
    last,
    bytes: Float64Array.from(first, () => 1 + next()),
    band: Uint8Array.from(first, () => Math.floor(next() * 16)),
    hit: new Uint8Array(length).fill(1),
    offset: new Float64Array(length),
    lasting: new Uint8Array(length),
  };
  const slots = Array.from(first, (_, at) => at);
  const cells = COLUMNS * 8;
  const column = Uint16Array.from({ length: cells }, (_, at) => Math.floor(at / 8));
  return {
    about: {
      level: 4,
      index,
      bin: 16,
      axis: "event",
      layout: "stacked",
      low: 0,
      high: PEAK,
      height: PEAK,
      pixel: 1,
      by: "category",
      groups: [],
      hidden: { rows: 0, bytes: 0, left: 0, left_bytes: 0, ranges: 0, range_bytes: 0 },
      extent: 1,
      hits: null,
    },
    columns: {
      length: COLUMNS,
      begin: Float64Array.from({ length: COLUMNS }, (_, at) => (index * COLUMNS + at) * 16),
      event: new Float64Array(COLUMNS),
      time: new Float64Array(COLUMNS),
      total: Float64Array.from({ length: COLUMNS }, () => next()),
      count: new Float64Array(COLUMNS),
      base: new Float64Array(COLUMNS),
    },
    rows,
    gaps: gapsOf({
      length: 2 * length,
      band: new Uint8Array(2 * length),
      slot: Int32Array.from([...slots, ...slots]),
      part: Int32Array.from([...slots, ...slots]),
      hit: new Uint8Array(2 * length),
      mixed: new Uint8Array(2 * length),
      column: Uint16Array.from([...first, ...last]),
      bytes: Float64Array.from([...slots.map(() => 0.25), ...slots.map(() => -0.25)]),
      count: new Int32Array(2 * length).fill(1),
    }),
    merged: {
      length: cells,
      column,
      last: column,
      band: Uint8Array.from(column, (_, at) => at % 8),
      bytes: Float64Array.from(column, () => 2 * next()),
      count: new Int32Array(cells).fill(3),
      allocation: new Int32Array(cells).fill(-1),
      hit: new Uint8Array(cells),
      offset: new Float64Array(cells),
      tall: new Uint16Array(cells).fill(1),
    },
    mapped: NONE_MAPPED,
    blocks: new Float64Array(0),
  };
}

const tiles = Array.from({ length: TILES }, (_, index) => fullTile(index));

/** Lanes of a height, each taken by whoever comes when it is free. */
function inLanes({ first, last }: Tile["rows"]): Float64Array {
  const until: number[] = [];
  return Float64Array.from(first, (begin, at) => {
    let lane = until.findIndex((end) => end < begin);
    if (lane < 0) lane = until.push(0) - 1;
    until[lane] = last[at] as number;
    return 2 * lane;
  });
}

const placed = tiles.map((tile, index): Tile => {
  const next = random(100 + index);
  return {
    ...tile,
    about: { ...tile.about, layout: "lane" },
    rows: { ...tile.rows, offset: inLanes(tile.rows) },
    merged: {
      ...tile.merged,
      offset: tile.merged.offset.map(() => Math.floor(next() * PEAK)).sort(),
    },
  };
});
/** The same by address: what is mapped lies under it, ranges of ten pixels that come and go. */
const addressed = placed.map((tile): Tile => {
  const length = PEAK / 10;
  const first = Uint16Array.from({ length }, (_, at) => (at * 37) % (COLUMNS / 2));
  const mapped = {
    length,
    first,
    last: first.map((at) => at + COLUMNS / 2 - 1),
    offset: Float64Array.from(first, (_, at) => 10 * at),
    size: new Float64Array(length).fill(10),
  };
  return { ...tile, about: { ...tile.about, layout: "address" }, mapped };
});
const span = COLUMNS * 16;
const parts: Part[] = tiles.map((_, tile) => ({
  tile,
  begin: tile * span,
  end: (tile + 1) * span,
}));
const view: View = { begin: 0, end: TILES * span, low: 0, high: PEAK, width: 1600, height: 800 };
const palette: Palette = {
  bands: tiles.map(() =>
    Array.from({ length: 16 }, (_, at) => `#${(at * 987_654).toString(16).padStart(6, "4")}`),
  ),
  background: "#ffffff",
  gap: "#cccccc",
  held: "#eeeeee",
  outline: "#000000",
  faint: tiles.map(() => []),
  selected: 17,
  siblings: [1, 2, 3],
  lasting: false,
  searching: false,
};
const pixels = new Int32Array(view.width * view.height);
const raster = fill(tiles, parts, view);
const again = fill(placed, parts, view).sheet;
const colours = coloursOf(tiles, raster.numbers, palette, raster.sheet.scale);

const chance = random(7);

const ROUNDS = 200;
const WARM = 20;

function bench(name: string, run: () => void) {
  for (let round = 0; round < WARM; round++) run();
  const times = Float64Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    run();
    return performance.now() - began;
  }).sort();
  const at = (share: number) => times[Math.floor(share * ROUNDS)] as number;
  return { name, min: at(0), median: at(0.5), p99: at(0.99) };
}

const found = [
  bench("layout and colours", () => {
    const { numbers, sheet } = fill(tiles, parts, view, raster.sheet);
    paint(sheet, coloursOf(tiles, numbers, palette, sheet.scale), pixels);
  }),
  bench("layout", () => {
    fill(tiles, parts, view, raster.sheet);
  }),
  bench("layout and colours in lanes", () => {
    const { numbers, sheet } = fill(placed, parts, view, again);
    paint(sheet, coloursOf(placed, numbers, palette, sheet.scale), pixels);
  }),
  bench("layout and colours by address", () => {
    const { numbers, sheet } = fill(addressed, parts, view, again);
    paint(sheet, coloursOf(addressed, numbers, palette, sheet.scale), pixels);
  }),
  // What is worked out once a tile is worked out for each of these.
  bench("of tiles that have just come", () => {
    const fresh = tiles.map((tile) => ({ ...tile }));
    const { numbers, sheet } = fill(fresh, parts, view, raster.sheet);
    paint(sheet, coloursOf(fresh, numbers, palette, sheet.scale), pixels);
  }),
  bench("other colours, no layout", () => {
    paint(raster.sheet, colours, pixels);
  }),
  bench("what is under the pointer", () => {
    const [x, y] = [Math.floor(chance() * view.width), Math.floor(chance() * view.height)];
    const thing = thingOf(raster.numbers, raster.sheet.ids[runAt(raster.sheet, x, y)] as number);
    // Whatever is there: the sum of the changes of a gap up to the column is the dearest answer.
    const tile = tiles[thing?.tile ?? 0] as Tile;
    gapAt(tile, Math.floor(chance() * tile.gaps.count), Math.floor(chance() * COLUMNS));
  }),
];
process.stdout.write(`${JSON.stringify(found)}\n`);
