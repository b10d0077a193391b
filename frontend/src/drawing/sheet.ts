/** The numbers of a picture while it is being filled, column after column. */

import { HELD, NOTHING, UNKNOWN } from "./things";

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

/** Pixels a thing must be tall to have an edge that tells it from the one above. */
export const TALL = 4;

export class Sheet {
  /** Column after column, each from the bottom up: `ids[x * height + y]`. */
  readonly ids: Int32Array<ArrayBuffer>;
  /** Places in `ids` of the uppermost pixels of tall things; the first `edgeCount` of them. */
  edges: Int32Array;
  edgeCount = 0;
  readonly height: number;
  readonly low: number;
  /** Pixels a byte. */
  readonly scale: number;

  constructor(view: View, again?: Sheet) {
    const pixels = view.width * view.height;
    this.ids = again?.ids.length === pixels ? again.ids : new Int32Array(pixels);
    this.edges = again?.edges ?? new Int32Array(1024);
    this.height = view.height;
    this.low = view.low;
    this.scale = view.height / (view.high - view.low);
  }

  /** The pixel whose lower edge is nearest to `bytes`, not cut to the picture. */
  pixel(bytes: number): number {
    return Math.floor((bytes - this.low) * this.scale + 0.5);
  }

  edge(place: number): void {
    if (this.edgeCount === this.edges.length) {
      const more = new Int32Array(2 * this.edges.length);
      more.set(this.edges);
      this.edges = more;
    }
    this.edges[this.edgeCount] = place;
    this.edgeCount += 1;
  }

  /**
   * Fills pixels `from` up to `to` of the column that begins at `base`; they are inside of it. The
   * edge goes by the `bytes` of a thing, so that it has one in all of its columns or in none.
   */
  put(base: number, from: number, to: number, id: number, bytes: number): void {
    const { ids } = this;
    const end = base + to;
    for (let at = base + from; at < end; at++) ids[at] = id;
    if (bytes * this.scale >= TALL) this.edge(end - 1);
  }

  /** Shows the column that begins at `from` in another one too; `edges` are the places of its edges. */
  copy(from: number, to: number, edges: Int32Array): void {
    this.ids.copyWithin(to, from, from + this.height);
    for (let at = 0; at < edges.length; at++) this.edge((edges[at] as number) - from + to);
  }

  /** The edges found since there were `count` of them. */
  edgesSince(count: number): Int32Array {
    return this.edges.slice(count, this.edgeCount);
  }

  unknown(base: number): void {
    this.ids.fill(UNKNOWN, base, base + this.height);
  }

  nothing(base: number, from: number, to: number): void {
    this.ids.fill(NOTHING, base + from, base + to);
  }

  held(base: number, from: number, to: number): void {
    const [first, last] = [Math.max(0, this.pixel(from)), Math.min(this.height, this.pixel(to))];
    if (last > first) this.ids.fill(HELD, base + first, base + last);
  }
}
