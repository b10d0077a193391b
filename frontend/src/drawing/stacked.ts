/** The stacked layout: longer lives in order of birth with gaps between them, merged cells on top. */

import { byValue, Living, type Sorted } from "./order";
import type { Sheet } from "./sheet";
import { type Firsts, NOTHING } from "./things";
import type { Tile } from "./tile";

/** Rows and gaps in stack order, as one row of items, and what changes in each column. */
interface Stack {
  /** Number of the thing that an item is, less the first number of the tile's. */
  readonly id: Int32Array;
  /** Place of every row and every gap among the items. */
  readonly rows: Int32Array;
  readonly gaps: Int32Array;
  readonly born: Sorted;
  readonly died: Sorted;
  readonly changed: Sorted;
  readonly shorts: Sorted;
}

const stacks = new WeakMap<Tile, Stack>();

/** The stack of a tile, worked out once: it is the same in every view. */
function stackOf(tile: Tile): Stack {
  const stack = stacks.get(tile) ?? sortInto(tile);
  stacks.set(tile, stack);
  return stack;
}

function sortInto({ columns: { length }, rows, gaps, merged }: Tile): Stack {
  const stack = {
    id: new Int32Array(rows.length + gaps.count),
    rows: new Int32Array(rows.length),
    gaps: new Int32Array(gaps.count),
    born: byValue(rows.first, rows.length, length),
    died: byValue(rows.last, rows.length, length),
    changed: byValue(gaps.changes.column, gaps.changes.length, length),
    shorts: byValue(merged.column, merged.length, length),
  };
  const firstGap = rows.length + merged.length;
  let gap = 0;
  let item = 0;
  for (let row = 0; row <= rows.length; row++) {
    for (; gap < gaps.count && gaps.slot[gap] === row; gap++, item++) {
      stack.gaps[gap] = item;
      stack.id[item] = firstGap + gap;
    }
    if (row === rows.length) break;
    stack.rows[row] = item;
    stack.id[item] = row;
    item += 1;
  }
  return stack;
}

/** Fills the columns of a tile that are `shown` (its columns, each with the pixel columns that show it). */
export function fillStacked(sheet: Sheet, tile: Tile, firsts: Firsts, shown: Sorted): void {
  const stack = stackOf(tile);
  const pile = new Pile(sheet, tile, firsts, stack);
  for (let column = 0; column < tile.columns.length; column++) {
    pile.change(column);
    const first = shown.from[column] as number;
    const last = shown.from[column + 1] as number;
    if (first === last) continue;
    const from = sheet.count;
    pile.fill(column);
    for (let at = first; at < last; at++) sheet.show(shown.places[at] as number, from);
  }
}

/** Words of living items that are piled up in one go: where a pile can be taken up again. */
const BLOCK = 8;

/** What is alive in a column, piled up; what lies below the lowest change is that of the last one. */
class Pile {
  readonly #living: Living;
  /** Bytes of each item now; those of rows do not change. */
  readonly #bytes: Float64Array;
  /** Before each block: bytes below it, the pixel they end before, and runs of the column so far. */
  readonly #tops: Float64Array;
  readonly #pixels: Int32Array;
  readonly #runs: Int32Array;
  /** The block that the last pile went up to, its first run, and what it stood on. */
  #reached = -1;
  #from = 0;
  #base = 0;
  /** Where the pile that is being made goes on. */
  #block = 0;

  constructor(
    readonly sheet: Sheet,
    readonly tile: Tile,
    readonly firsts: Firsts,
    readonly stack: Stack,
  ) {
    this.#living = new Living(stack.id.length);
    this.#bytes = new Float64Array(stack.id.length);
    for (let row = 0; row < tile.rows.length; row++) {
      this.#bytes[stack.rows[row] as number] = tile.rows.bytes[row] as number;
    }
    const blocks = Math.ceil(this.#living.words.length / BLOCK);
    this.#tops = new Float64Array(blocks + 1);
    this.#pixels = new Int32Array(blocks + 1);
    this.#runs = new Int32Array(blocks + 1);
  }

  /** Goes on to `column`: rows that were alive in the one before for the last time go, others come. */
  change(column: number): void {
    const { stack, tile } = this;
    const { died, changed, born, gaps, rows } = stack;
    const { gap, bytes } = tile.gaps.changes;
    const living = this.#living;
    const sizes = this.#bytes;
    if (column > 0) {
      const end = died.from[column] as number;
      for (let at = died.from[column - 1] as number; at < end; at++) {
        living.go(rows[died.places[at] as number] as number);
      }
    }
    for (let at = changed.from[column] as number; at < (changed.from[column + 1] as number); at++) {
      const place = changed.places[at] as number;
      const item = gaps[gap[place] as number] as number;
      const now = (sizes[item] as number) + (bytes[place] as number);
      sizes[item] = now;
      if (now === 0) living.go(item);
      else living.come(item);
    }
    for (let at = born.from[column] as number; at < (born.from[column + 1] as number); at++) {
      living.come(rows[born.places[at] as number] as number);
    }
  }

  /**
   * Adds the runs of a column, from what lies below the tile. Pixels are covered from their middle
   * on, so that rounding moves no edge by more than half of one, and no error adds up.
   */
  fill(column: number): void {
    const { sheet } = this;
    sheet.makeRoom();
    const from = sheet.count;
    const base = this.tile.columns.base[column] as number;
    if (this.#reached >= 0 && base === this.#base) this.#takeUp();
    else this.#begin(base);
    this.#from = from;
    this.#base = base;
    const top = this.#longer(from);
    this.#shorter(column, top);
  }

  #begin(base: number): void {
    const { sheet } = this;
    const pixel = sheet.pixel(base);
    if (pixel > 0) sheet.put(NOTHING, pixel);
    this.#tops[0] = base;
    this.#pixels[0] = pixel;
    this.#block = 0;
  }

  /** Copies what the last column had below the lowest change. */
  #takeUp(): void {
    const { sheet } = this;
    const block = Math.min(Math.floor(this.#living.changed / BLOCK), this.#reached);
    const runs = this.#runs[block] as number;
    sheet.ids.copyWithin(sheet.count, this.#from, this.#from + runs);
    sheet.ends.copyWithin(sheet.count, this.#from, this.#from + runs);
    sheet.count += runs;
    this.#block = block;
  }

  /** Adds the living ones from a block on; answers the bytes below what comes on top of them. */
  #longer(start: number): number {
    const { height, ids, ends, low, scale } = this.sheet;
    const { words } = this.#living;
    const { id } = this.stack;
    const bytes = this.#bytes;
    const first = this.firsts.rows;
    const blocks = this.#tops.length - 1;
    let block = this.#block;
    let top = this.#tops[block] as number;
    let from = this.#pixels[block] as number;
    let run = this.sheet.count;
    for (; block < blocks && from < height; block++) {
      this.#tops[block] = top;
      this.#pixels[block] = from;
      this.#runs[block] = run - start;
      const end = Math.min((block + 1) * BLOCK, words.length);
      for (let word = block * BLOCK; word < end; word++) {
        // The innermost loop of all: nothing is called, and hardly anything is asked.
        for (let bits = words[word] as number; bits !== 0; bits &= bits - 1) {
          const item = (word << 5) + 31 - Math.clz32(bits & -bits);
          top += bytes[item] as number;
          // Half a pixel further, so that cutting off the fraction rounds; `edge` may be huge.
          const edge = (top - low) * scale + 0.5;
          const to = edge < height ? (edge > 0 ? edge | 0 : 0) : height;
          ids[run] = first + (id[item] as number);
          ends[run] = to;
          // All ones where it has a pixel, else 0: the next one then takes its place.
          const isSeen = (from - to) >> 31;
          run -= isSeen;
          from += (to - from) & isSeen;
        }
      }
    }
    this.#tops[block] = top;
    this.#pixels[block] = from;
    this.#runs[block] = run - start;
    this.#reached = block;
    this.#living.changed = words.length;
    this.sheet.count = run;
    return top;
  }

  /** Adds the merged cells of a column on top, and nothing above them. */
  #shorter(column: number, below: number): void {
    const { sheet, firsts, stack } = this;
    const { bytes } = this.tile.merged;
    const { from: starts, places } = stack.shorts;
    let top = below;
    let from = this.#pixels[this.#reached] as number;
    for (let at = starts[column] as number; at < (starts[column + 1] as number); at++) {
      const cell = places[at] as number;
      top += bytes[cell] as number;
      const to = sheet.pixel(top);
      if (to <= from) continue;
      sheet.put(firsts.merged + cell, to);
      from = to;
    }
    if (from < sheet.height) sheet.put(NOTHING, sheet.height);
  }
}
