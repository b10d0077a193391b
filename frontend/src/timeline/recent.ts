/** A small cache of what was used last, for answers that never change. */

export class Recent<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#room) break;
      this.#entries.delete(oldest);
    }
  }

  /** The newest value that `fits`. */
  find(fits: (value: Value) => boolean): Value | undefined {
    return [...this.#entries.values()].reverse().find(fits);
  }

  clear(): void {
    this.#entries.clear();
  }
}
