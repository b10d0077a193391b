/** The layouts with fixed places (address, lane): strips of small and short lives, rows over them. */

import { byValue, Living, type Sorted } from "./order";
import type { Sheet } from "./sheet";
import { type Firsts, HELD, NOTHING } from "./things";
import type { Tile } from "./tile";

/** Things of a tile that are there in some columns, laid over one another in this order. */
interface Layer {
  /** Those that come with each column, and those that are there for the last time. */
  readonly come: Sorted;
  readonly go: Sorted;
  readonly offset: Float64Array;
  readonly size: Float64Array;
  /** What one of them is called by: the first number and its place, or one number for all. */
  readonly first: (firsts: Firsts) => number;
  readonly isOne: boolean;
}

const layers = new WeakMap<Tile, readonly Layer[]>();

/** The layers of a tile, worked out once: they are the same in every view. */
function layersOf(tile: Tile): readonly Layer[] {
  const known = layers.get(tile) ?? sortInto(tile);
  layers.set(tile, known);
  return known;
}

function sortInto({ about, columns, rows, merged, mapped, blocks }: Tile): readonly Layer[] {
  const { length } = columns;
  return [
    // What is mapped at an instant is told from what is not.
    {
      come: byValue(mapped.first, mapped.length, length),
      go: byValue(mapped.last, mapped.length, length),
      offset: mapped.offset,
      size: mapped.size,
      first: () => HELD,
      isOne: true,
    },
    {
      come: byValue(merged.column, merged.length, length),
      go: byValue(merged.last, merged.length, length),
      offset: merged.offset,
      size: Float64Array.from(merged.tall, (tall) => tall * about.pixel),
      first: ({ merged }) => merged,
      isOne: false,
    },
    // Which row is over which does not matter: no two are in the same place at once.
    {
      come: byValue(rows.first, rows.length, length),
      go: byValue(rows.last, rows.length, length),
      offset: rows.offset,
      size: blocks.length > 0 ? blocks : rows.bytes,
      first: ({ rows }) => rows,
      isOne: false,
    },
  ];
}

/** Fills the columns of a tile that are `shown` (its columns, each with the pixel columns that show it). */
export function fillPlaced(sheet: Sheet, tile: Tile, firsts: Firsts, shown: Sorted): void {
  const filled = layersOf(tile).map((layer) => new Filled(layer, sheet, firsts));
  const pixels = new Int32Array(sheet.height);
  /** The run from which on the last column that was filled has its own. */
  let from = -1;
  for (let column = 0; column < tile.columns.length; column++) {
    for (const layer of filled) if (layer.change(column)) from = -1;
    const first = shown.from[column] as number;
    const last = shown.from[column + 1] as number;
    if (first === last) continue;
    if (from < 0) {
      pixels.fill(NOTHING);
      for (const layer of filled) layer.put(pixels);
      from = sheet.count;
      addRuns(sheet, pixels);
    }
    for (let at = first; at < last; at++) sheet.show(shown.places[at] as number, from);
  }
}

/** A layer in a view, column after column. */
class Filled {
  readonly #living: Living;
  /** Pixels of each thing. */
  readonly #begin: Uint16Array;
  readonly #end: Uint16Array;
  readonly #first: number;
  readonly #step: number;

  constructor(
    readonly layer: Layer,
    sheet: Sheet,
    firsts: Firsts,
  ) {
    const { offset, size, first, isOne } = layer;
    this.#living = new Living(offset.length);
    this.#begin = new Uint16Array(offset.length);
    this.#end = new Uint16Array(offset.length);
    // Loops: `from` takes ten times as long.
    for (let at = 0; at < offset.length; at++) {
      const begin = offset[at] as number;
      this.#begin[at] = sheet.pixel(begin);
      this.#end[at] = sheet.pixel(begin + (size[at] as number));
    }
    this.#first = first(firsts);
    this.#step = isOne ? 0 : 1;
  }

  /** Goes on to `column`; whether anything is there now that was not, or the other way round. */
  change(column: number): boolean {
    const { come, go } = this.layer;
    const living = this.#living;
    const gone = column > 0 ? (go.from[column] as number) : 0;
    const left = column > 0 ? (go.from[column - 1] as number) : 0;
    for (let at = left; at < gone; at++) living.go(go.places[at] as number);
    const begin = come.from[column] as number;
    const end = come.from[column + 1] as number;
    for (let at = begin; at < end; at++) living.come(come.places[at] as number);
    return left < gone || begin < end;
  }

  /** Lays what is there over `pixels`. */
  put(pixels: Int32Array): void {
    const { words } = this.#living;
    const [begins, ends, first, step] = [this.#begin, this.#end, this.#first, this.#step];
    for (let word = 0; word < words.length; word++) {
      for (let bits = words[word] as number; bits !== 0; bits &= bits - 1) {
        const at = (word << 5) + 31 - Math.clz32(bits & -bits);
        const id = first + at * step;
        const end = ends[at] as number;
        // A loop: most are a few pixels tall.
        for (let y = begins[at] as number; y < end; y++) pixels[y] = id;
      }
    }
  }
}

function addRuns(sheet: Sheet, pixels: Int32Array): void {
  sheet.makeRoom();
  const { ids, ends } = sheet;
  let run = sheet.count;
  let last = pixels[0] as number;
  for (let y = 1; y < pixels.length; y++) {
    const id = pixels[y] as number;
    if (id === last) continue;
    ids[run] = last;
    ends[run] = y;
    run += 1;
    last = id;
  }
  ids[run] = last;
  ends[run] = pixels.length;
  sheet.count = run + 1;
}
