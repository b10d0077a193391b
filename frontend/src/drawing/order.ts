/** Rows of a table sorted into the columns of a tile, and those alive while columns go by. */

/** Places of `keys` by value: those of value k are `places[from[k]]` … `places[from[k + 1] - 1]`. */
export interface Sorted {
  readonly from: Int32Array;
  readonly places: Int32Array;
}

/** Sorts places by a small value each, the earlier place first among equals. */
export function byValue(keys: ArrayLike<number>, length: number, values: number): Sorted {
  const from = new Int32Array(values + 1);
  for (let at = 0; at < length; at++) {
    const key = keys[at] as number;
    if (key < values) from[key + 1] = (from[key + 1] as number) + 1;
  }
  for (let value = 0; value < values; value++) {
    from[value + 1] = (from[value + 1] as number) + (from[value] as number);
  }
  const next = from.slice();
  const places = new Int32Array(from[values] as number);
  for (let at = 0; at < length; at++) {
    const key = keys[at] as number;
    if (key >= values) continue;
    places[next[key] as number] = at;
    next[key] = (next[key] as number) + 1;
  }
  return { from, places };
}

/** Visits the places of `value`. */
export function eachOf(
  { from, places }: Sorted,
  value: number,
  visit: (place: number) => void,
): void {
  const end = from[value + 1] as number;
  for (let at = from[value] as number; at < end; at++) visit(places[at] as number);
}

/**
 * Which of some whole numbers are alive, a bit each: they come and go without being sorted, and a
 * walk over the bits meets them in rising order.
 */
export class Living {
  /** Bit `n & 31` of word `n >> 5` is number n. */
  readonly words: Int32Array;
  /** The lowest word that has changed since this was last set to the number of words. */
  changed = 0;

  constructor(most: number) {
    this.words = new Int32Array((most + 31) >>> 5);
  }

  come(item: number): void {
    const word = item >>> 5;
    this.words[word] = (this.words[word] as number) | (1 << (item & 31));
    if (word < this.changed) this.changed = word;
  }

  go(item: number): void {
    const word = item >>> 5;
    this.words[word] = (this.words[word] as number) & ~(1 << (item & 31));
    if (word < this.changed) this.changed = word;
  }

  /** Visits those that are alive, in rising order. */
  each(visit: (item: number) => void): void {
    for (let word = 0; word < this.words.length; word++) {
      for (let bits = this.words[word] as number; bits !== 0; bits &= bits - 1) {
        visit((word << 5) + 31 - Math.clz32(bits & -bits));
      }
    }
  }
}
