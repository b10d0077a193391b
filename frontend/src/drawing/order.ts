/** Rows of a table sorted into the columns of a tile, and kept in order while columns go by. */

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

/** Whole numbers in rising order: some leave, some come, from column to column. */
export class Living {
  items: Int32Array;
  length = 0;
  #spare: Int32Array;
  readonly #coming: Int32Array;
  #come = 0;
  /** Whether a number is in the list or about to be. */
  readonly #isIn: Uint8Array;

  constructor(most: number) {
    this.items = new Int32Array(most);
    this.#spare = new Int32Array(most);
    this.#coming = new Int32Array(most);
    this.#isIn = new Uint8Array(most);
  }

  /** Adds at the next `settle`. */
  come(item: number): void {
    if (this.#isIn[item] === 1) return;
    this.#isIn[item] = 1;
    this.#coming[this.#come] = item;
    this.#come += 1;
  }

  /** Takes in those that came, each in its place. */
  settle(): void {
    if (this.#come > 0) this.#take(this.#coming.subarray(0, this.#come));
    this.#come = 0;
  }

  /** Says that whoever walks the list has left this one out. */
  gone(item: number): void {
    this.#isIn[item] = 0;
  }

  /** Ends a walk that has looked at `seen` and kept the first `kept` of the list. */
  keep(kept: number, seen: number): void {
    if (kept < seen) this.items.copyWithin(kept, seen, this.length);
    this.length -= seen - kept;
  }

  #take(coming: Int32Array): void {
    const { items, length } = this;
    if (coming.length > 1) coming.sort();
    // Births go on top of the stack: as a rule there is nothing to be merged.
    if (length === 0 || (items[length - 1] as number) < (coming[0] as number)) {
      items.set(coming, length);
      this.length += coming.length;
      return;
    }
    const merged = this.#spare;
    let [left, right, into] = [0, 0, 0];
    while (left < length || right < coming.length) {
      const isOld =
        right >= coming.length ||
        (left < length && (items[left] as number) < (coming[right] as number));
      merged[into] = (isOld ? items[left] : coming[right]) as number;
      if (isOld) left += 1;
      else right += 1;
      into += 1;
    }
    this.items = merged;
    this.#spare = items;
    this.length = into;
  }
}
