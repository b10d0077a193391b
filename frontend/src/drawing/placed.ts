/** The layouts with fixed places (address, lane): strips of small and short lives, rows over them. */

import { byValue, Living, type Sorted } from "./order";
import type { Sheet } from "./sheet";
import { type Firsts, HELD } from "./things";
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

type Layers = readonly [mapped: Layer, merged: Layer, rows: Layer];

const layers = new WeakMap<Tile, Layers>();

/** The layers of a tile, worked out once: they are the same in every view. */
function layersOf(tile: Tile): Layers {
  const known = layers.get(tile) ?? sortInto(tile);
  layers.set(tile, known);
  return known;
}

function sortInto({ about, columns, rows, merged, mapped, blocks }: Tile): Layers {
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
  const [mapped, merged, rows] = layersOf(tile);
  const filled = [
    new Apart(mapped, sheet, firsts),
    new Laid(merged, sheet, firsts),
    new Apart(rows, sheet, firsts),
  ] as const;
  /** The run from which on the last column that was filled has its own. */
  let from = -1;
  for (let column = 0; column < tile.columns.length; column++) {
    for (const layer of filled) if (layer.change(column)) from = -1;
    const first = shown.from[column] as number;
    const last = shown.from[column + 1] as number;
    if (first === last) continue;
    if (from < 0) {
      from = sheet.count;
      addRuns(sheet, filled[2].pixels(), filled[1].pixels(), filled[0].pixels());
    }
    for (let at = first; at < last; at++) sheet.show(shown.places[at] as number, from);
  }
}

/** A layer in a view, column after column. */
abstract class Filled {
  /** What each pixel shows, one more than its number; 0 for nothing. */
  readonly shown: Int32Array;
  /** Pixels of each thing. */
  readonly begin: Uint16Array;
  readonly end: Uint16Array;
  readonly first: number;
  readonly step: number;

  constructor(
    readonly layer: Layer,
    sheet: Sheet,
    firsts: Firsts,
  ) {
    const { offset, size, first, isOne } = layer;
    this.shown = new Int32Array(sheet.height);
    this.begin = new Uint16Array(offset.length);
    this.end = new Uint16Array(offset.length);
    // Loops: `from` takes ten times as long.
    for (let at = 0; at < offset.length; at++) {
      const begin = offset[at] as number;
      this.begin[at] = sheet.pixel(begin);
      this.end[at] = sheet.pixel(begin + (size[at] as number));
    }
    this.first = first(firsts) + 1;
    this.step = isOne ? 0 : 1;
  }

  /** Goes on to `column`; whether anything is there now that was not, or the other way round. */
  change(column: number): boolean {
    const { come, go } = this.layer;
    const gone = column > 0 ? (go.from[column] as number) : 0;
    const left = column > 0 ? (go.from[column - 1] as number) : 0;
    for (let at = left; at < gone; at++) this.go(go.places[at] as number);
    const begin = come.from[column] as number;
    const end = come.from[column + 1] as number;
    for (let at = begin; at < end; at++) this.come(come.places[at] as number);
    return left < gone || begin < end;
  }

  protected abstract come(at: number): void;
  protected abstract go(at: number): void;
  abstract pixels(): Int32Array;

  protected fill(at: number, value: number): void {
    const { shown, begin, end } = this;
    const stop = end[at] as number;
    // A loop: most are a few pixels tall.
    for (let y = begin[at] as number; y < stop; y++) shown[y] = value;
  }
}

/** Things no two of which are ever in the same place at once: pixels change where something does. */
class Apart extends Filled {
  protected come(at: number): void {
    this.fill(at, this.first + at * this.step);
  }

  protected go(at: number): void {
    this.fill(at, 0);
  }

  pixels(): Int32Array {
    return this.shown;
  }
}

/** Things that may reach over one another: they are laid anew, the later over the earlier. */
class Laid extends Filled {
  readonly #living = new Living(this.layer.offset.length);
  #isLaid = true;

  protected come(at: number): void {
    this.#living.come(at);
    this.#isLaid = false;
  }

  protected go(at: number): void {
    this.#living.go(at);
    this.#isLaid = false;
  }

  pixels(): Int32Array {
    if (this.#isLaid) return this.shown;
    this.#isLaid = true;
    this.shown.fill(0);
    this.#living.each((at) => this.fill(at, this.first + at * this.step));
    return this.shown;
  }
}

/** Adds a column: of each pixel what the uppermost layer has there. */
function addRuns(sheet: Sheet, over: Int32Array, middle: Int32Array, under: Int32Array): void {
  sheet.makeRoom();
  const { ids, ends, height } = sheet;
  let run = sheet.count;
  let last = over[0] || middle[0] || under[0] || 0;
  for (let y = 1; y < height; y++) {
    const next = over[y] || middle[y] || under[y] || 0;
    if (next === last) continue;
    ids[run] = last - 1;
    ends[run] = y;
    run += 1;
    last = next;
  }
  ids[run] = last - 1;
  ends[run] = height;
  sheet.count = run + 1;
}
