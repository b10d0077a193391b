/** Tiles kept while there is room, the longest unused dropped first, and fetched a few at a time. */

import { signal } from "@preact/signals";
import { during, wasAborted } from "../api";
import { getBytes } from "../api/tile";
import { openStudio, type Studio } from "../drawing/studio";
import { sizeOf, type Tile } from "../drawing/tile";
import { visible } from "../state/visible";
import type { Held } from "./cover";
import type { Place, Shape } from "./grid";
import { nameOf, type Question, tileAddress } from "./question";

/** Bytes of tiles kept, here and as much again in the worker. */
const ROOM = 48 * 2 ** 20;
/** Requests under way at once: the server makes one tile after another. */
const AT_ONCE = 3;

interface Kept extends Held {
  readonly question: string;
  readonly tile: Tile;
  readonly size: number;
}

export interface Wish {
  readonly question: Question;
  readonly place: Place;
  readonly shape: Shape;
  /** Whether it is not seen yet: had once nothing else is, one at a time, and without a word. */
  readonly isAhead?: boolean;
}

export class TileStore {
  /** Counts up with every tile that arrives and is seen. */
  readonly arrived = signal(0);
  /** Why the last request failed, and whether any is under way. */
  readonly failure = signal<Error | null>(null);
  readonly loading = signal(false);
  #studio: Studio | null = null;
  readonly #kept = new Map<string, Kept>();
  readonly #pending = new Map<string, AbortController>();
  #wished = new Map<string, Wish>();
  #size = 0;

  /** The worker, started when it is first needed; another where one has failed. */
  get studio(): Studio {
    if (this.#studio?.isBroken) {
      this.#studio = null;
      this.#kept.clear();
      this.#size = 0;
    }
    this.#studio ??= openStudio();
    return this.#studio;
  }

  /** The tiles at hand that answer a question. */
  held(question: string): Held[] {
    return [...this.#kept.values()].filter((one) => one.question === question);
  }

  /** A tile that is at hand; it counts as used. */
  use(key: string): Tile | null {
    const found = this.#kept.get(key);
    if (found === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.tile;
  }

  /** Asks for these, the first ones first, and for nothing else any more. */
  wish(wishes: readonly Wish[]): void {
    this.#wished = new Map(
      wishes.map((one) => [tileAddress(one.question, one.place, one.shape), one]),
    );
    for (const [key, abort] of this.#pending) {
      if (!this.#wished.has(key)) {
        abort.abort();
        this.#pending.delete(key);
      }
    }
    if (wishes.length === 0) this.failure.value = null;
    this.#go();
  }

  #go(): void {
    for (const [key, wish] of this.#wished) {
      if (this.#pending.size >= AT_ONCE) break;
      if (this.#pending.has(key) || this.#kept.has(key)) continue;
      if (wish.isAhead && (this.#pending.size > 0 || !visible.peek())) break;
      const abort = new AbortController();
      this.#pending.set(key, abort);
      void this.#fetch(key, wish, abort.signal);
    }
    const isSeen = (key: string) => this.#wished.get(key)?.isAhead !== true;
    this.loading.value = [...this.#pending.keys()].some(isSeen);
  }

  async #fetch(key: string, wish: Wish, abort: AbortSignal): Promise<void> {
    try {
      const body = await getBytes(key, abort);
      const tile = await during(this.studio.decode(key, body));
      this.#keep(key, wish, tile);
      if (!abort.aborted) this.failure.value = null;
    } catch (error) {
      if (abort.aborted || wasAborted(error)) return;
      // One that failed is not asked for again until somebody wishes anew.
      const isAhead = this.#wished.get(key)?.isAhead === true;
      this.#wished.delete(key);
      if (!isAhead) this.failure.value = error instanceof Error ? error : new Error(String(error));
    } finally {
      if (this.#pending.get(key)?.signal === abort) this.#pending.delete(key);
      this.#go();
    }
  }

  #keep(key: string, { question, place, shape }: Wish, tile: Tile): void {
    const size = sizeOf(tile);
    this.#kept.set(key, { key, question: nameOf(question), ...place, ...shape, tile, size });
    this.#size += size;
    this.#trim();
    if (this.#wished.get(key)?.isAhead !== true) this.arrived.value += 1;
  }

  #trim(): void {
    const dropped: string[] = [];
    for (const [key, { size }] of this.#kept) {
      if (this.#size <= ROOM || this.#kept.size <= 1) break;
      this.#kept.delete(key);
      this.#size -= size;
      dropped.push(key);
    }
    if (dropped.length > 0) this.studio.forget(dropped);
  }
}
