/** Which colour means what: colour-blind-safe sets (after Paul Tol), the same in every view. */

import { sequential } from "./sequential";

/** Category colours; neighbours in stacking order differ in hue and lightness. */
export const CATEGORY_COLOURS: Readonly<Record<string, string>> = {
  parameter: "#4477aa",
  "optimizer state": "#ccbb44",
  gradient: "#66ccee",
  activation: "#ee6677",
  input: "#228833",
  temporary: "#aa3377",
  "autograd detail": "#44aa99",
  output: "#ffaabb",
  unknown: "#a6a6a6",
};

/** Groups that are not one thing: too small to name, from before the window, of nothing known. */
export const REST_KEY = "…rest";
export const BEFORE_KEY = "…before";
export const UNKNOWN_KEY = "…unknown";

/** Greys that stand behind the colours: pale on white, deep on dark. */
const QUIET: Readonly<Record<"light" | "dark", Readonly<Record<string, string>>>> = {
  light: { [BEFORE_KEY]: "#c4c4c4", [UNKNOWN_KEY]: "#a6a6a6", [REST_KEY]: "#868686" },
  dark: { [BEFORE_KEY]: "#8c8c8c", [UNKNOWN_KEY]: "#747474", [REST_KEY]: "#5e5e5e" },
};

/** Stack, heap and free as an allocator reports them; what is free stands back. */
export const AREA_COLOURS: Readonly<Record<"light" | "dark", Readonly<Record<string, string>>>> = {
  light: { stack: "#ee8866", heap: "#4477aa", free: "#d6e9c8" },
  dark: { stack: "#ee8866", heap: "#5b8fc4", free: "#41553a" },
};

/** Far from each other in hue or lightness, in an order where neighbours are farthest. */
const STACKS = [
  "#4477aa", "#ee8866", "#228833", "#ffaabb", "#6655bb", "#ccbb44", "#66ccee", "#882255",
  "#44aa99", "#ee6677", "#aabbdd", "#888822", "#bb88dd", "#996633", "#d5e8a0", "#226677",
]; // biome-ignore format: a palette reads as a grid

/** What covers whole pictures, as pools do, glares in none of these. */
const CALM = [8, 10, 0, 4, 2, 15, 12, 11, 6, 13];
const POOL = /^(\d+,\d+|\?)(@(0x[0-9a-f]+|\?))?$/;

/** A small, stable hash (FNV-1a) of a key. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

export interface Coloured {
  key: string;
  category?: string | null | undefined;
  /** Where it is on an ordered scale, 0 to 1; of what has no order there is none. */
  shade?: number | null | undefined;
}

/** Hands out a colour a key: the key's own where free, else the next; it then keeps it. */
export class Colours {
  /**
   * `taken` is what was handed out already, for a theme that changes while colours stay; `moved` is
   * called when a key had to be given another colour than it was.
   */
  constructor(
    private readonly theme: "light" | "dark" = "light",
    readonly taken = new Map<string, number>(),
    private readonly moved: () => void = () => {},
  ) {}

  of(group: Coloured): string {
    return this.fixed(group) ?? (STACKS[this.slot(group.key)] as string);
  }

  /** Colours of groups side by side: as long as there are colours no two have the same. */
  all(groups: readonly Coloured[]): string[] {
    const used = new Set<number>();
    for (const group of groups) {
      if (this.fixed(group) !== undefined) continue;
      const slot = this.slot(group.key);
      const free = used.has(slot) ? this.freeBut(used) : undefined;
      if (free !== undefined) {
        this.taken.set(group.key, free);
        this.moved();
      }
      used.add(free ?? slot);
    }
    return groups.map((group) => this.of(group));
  }

  /** The colour of what has one whatever else is shown. */
  private fixed({ key, shade, category }: Coloured): string | undefined {
    const quiet = QUIET[this.theme][key];
    if (quiet) return quiet;
    if (typeof shade === "number") return sequential(this.theme, shade);
    return category ? CATEGORY_COLOURS[category] : undefined;
  }

  /** A colour that is none of `used`, if there is one: best one that nothing has. */
  private freeBut(used: ReadonlySet<number>): number | undefined {
    const taken = new Set(this.taken.values());
    const free = STACKS.map((_, slot) => slot).filter((slot) => !used.has(slot));
    return free.find((slot) => !taken.has(slot)) ?? free[0];
  }

  private slot(key: string): number {
    const known = this.taken.get(key);
    if (known !== undefined) return known;
    const used = new Set(this.taken.values());
    const calm = POOL.test(key) ? CALM.find((place) => !used.has(place)) : undefined;
    let slot = calm ?? hash(key) % STACKS.length;
    if (used.size < STACKS.length) while (used.has(slot)) slot = (slot + 1) % STACKS.length;
    this.taken.set(key, slot);
    return slot;
  }
}
