/** A picture as runs of pixels that show the same thing, column after column, each from the bottom up. */

import { UNKNOWN } from "./things";

/** What a picture shows, and how many pixels it has. */
export interface View {
  /** Range of the axis that fills the width. */
  readonly begin: number;
  readonly end: number;
  /** Range of bytes that fills the height. */
  readonly low: number;
  readonly high: number;
  readonly width: number;
  readonly height: number;
}

/** The runs of all columns. Those of a column are not empty, and fill it from 0 to its height. */
export interface Runs {
  /** First run of each pixel column, and one past its last; equal columns share theirs. */
  readonly from: Int32Array<ArrayBuffer>;
  readonly to: Int32Array<ArrayBuffer>;
  /** Number of the thing that a run shows (things.ts), and the pixel before which it ends. */
  readonly ids: Int32Array<ArrayBuffer>;
  readonly ends: Uint16Array<ArrayBuffer>;
}

/** The run that shows pixel `y` of column `x`. */
export function runAt({ from, to, ends }: Runs, x: number, y: number): number {
  let low = from[x] as number;
  let high = (to[x] as number) - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] as number) > y) high = middle;
    else low = middle + 1;
  }
  return low;
}

export class Sheet implements Runs {
  readonly from: Int32Array<ArrayBuffer>;
  readonly to: Int32Array<ArrayBuffer>;
  ids: Int32Array<ArrayBuffer>;
  ends: Uint16Array<ArrayBuffer>;
  /** Runs so far. */
  count = 0;
  readonly width: number;
  readonly height: number;
  readonly low: number;
  /** Pixels a byte. */
  readonly scale: number;

  /** Nothing is known of its columns yet. The arrays of an earlier sheet are used `again`. */
  constructor(view: View, again?: Sheet) {
    this.width = view.width;
    this.height = view.height;
    this.low = view.low;
    this.scale = view.height / (view.high - view.low);
    const isSame = again?.width === view.width;
    this.from = isSame ? again.from : new Int32Array(view.width);
    this.to = isSame ? again.to : new Int32Array(view.width);
    this.ids = again?.ids ?? new Int32Array(1 << 16);
    this.ends = again?.ends ?? new Uint16Array(1 << 16);
    this.makeRoom();
    this.put(UNKNOWN, this.height);
    this.from.fill(0);
    this.to.fill(1);
  }

  /** The pixel whose lower edge is nearest to `bytes`, cut to the picture. */
  pixel(bytes: number): number {
    const edge = (bytes - this.low) * this.scale + 0.5;
    return edge < this.height ? (edge > 0 ? Math.floor(edge) : 0) : this.height;
  }

  /** Makes sure that there is room for the runs of another column and for one more. */
  makeRoom(): void {
    const needed = this.count + this.height + 2;
    if (needed <= this.ids.length) return;
    const ids = new Int32Array(2 * needed);
    const ends = new Uint16Array(2 * needed);
    ids.set(this.ids);
    ends.set(this.ends);
    this.ids = ids;
    this.ends = ends;
  }

  /** Adds a run that ends before pixel `end`; there must be room for it. */
  put(id: number, end: number): void {
    this.ids[this.count] = id;
    this.ends[this.count] = end;
    this.count += 1;
  }

  /** Says that column `x` shows the runs from `from` on. */
  show(x: number, from: number): void {
    this.from[x] = from;
    this.to[x] = this.count;
  }

  /** Its runs in arrays of their own. */
  copy(): Runs {
    return {
      from: this.from.slice(),
      to: this.to.slice(),
      ids: this.ids.slice(0, this.count),
      ends: this.ends.slice(0, this.count),
    };
  }
}
