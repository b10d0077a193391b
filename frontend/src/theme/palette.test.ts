import { describe, expect, it } from "vitest";
import { BEFORE_KEY, CATEGORY_COLOURS, Colours, hash, REST_KEY, UNKNOWN_KEY } from "./palette";

describe("colours of groups", () => {
  it("are the category's where there is one", () => {
    const colours = new Colours();
    expect(colours.of({ key: "3", category: "activation" })).toBe(CATEGORY_COLOURS.activation);
  });

  it("are as many as there are categories, outputs of programs too", () => {
    const colours = Object.values(CATEGORY_COLOURS);
    expect(new Set(colours).size).toBe(colours.length);
    expect(new Colours().of({ key: "output", category: "output" })).toBe(CATEGORY_COLOURS.output);
    expect(CATEGORY_COLOURS.output).toBeDefined();
  });

  it("stay with their key, whatever else comes", () => {
    const colours = new Colours();
    const first = colours.of({ key: "a" });
    for (let index = 0; index < 50; index += 1) colours.of({ key: `other ${index}` });
    expect(colours.of({ key: "a" })).toBe(first);
    expect(new Colours().of({ key: "a" })).toBe(first);
  });

  it("differ for as many groups as there are colours", () => {
    const colours = new Colours();
    const keys = Array.from({ length: 16 }, (_, index) => `stack ${index}`);
    expect(new Set(keys.map((key) => colours.of({ key }))).size).toBe(16);
  });

  it("differ for groups side by side, whatever came before", () => {
    let moves = 0;
    const colours = new Colours("light", new Map(), () => moves++);
    const early = Array.from({ length: 40 }, (_, index) => colours.of({ key: `row ${index}` }));
    const shown = Array.from({ length: 16 }, (_, index) => ({ key: `row ${2 * index}` }));
    const given = colours.all([{ key: REST_KEY }, ...shown]);
    expect(new Set(given).size).toBe(17);
    expect(moves).toBe(shown.length - new Set(shown.map((_, index) => early[2 * index])).size);
    expect(colours.all(shown)).toEqual(given.slice(1));
    expect(shown.map((group) => colours.of(group))).toEqual(given.slice(1));
  });

  it("are shared only where there are more groups than colours", () => {
    const many = Array.from({ length: 17 }, (_, index) => ({ key: `stack ${index}` }));
    expect(new Set(new Colours().all(many)).size).toBe(16);
  });

  it("are calm for pools, which cover whole pictures", () => {
    const colours = new Colours();
    const pools = ["0,0@0x0", "0,1@0x0", "?@?", "0,0"].map((key) => colours.of({ key }));
    expect(pools).toEqual(["#44aa99", "#aabbdd", "#4477aa", "#6655bb"]);
    expect(colours.of({ key: "0,1@0x0" })).toBe(pools[1]);
  });

  it.each(["light", "dark"] as const)("are three greys for what is not one thing (%s)", (theme) => {
    const colours = new Colours(theme);
    const keys = [BEFORE_KEY, UNKNOWN_KEY, REST_KEY];
    const greys = keys.map((key) => colours.of({ key, category: "unknown" }));
    expect(new Set(greys).size).toBe(3);
    for (const grey of greys) expect(grey).toMatch(/^#(..)\1\1$/);
  });

  it("stay when the theme changes", () => {
    const taken = new Map<string, number>();
    const light = new Colours("light", taken);
    const first = light.of({ key: "a" });
    light.of({ key: "b" });
    expect(new Colours("dark", taken).of({ key: "a" })).toBe(first);
  });

  it("come from a known hash (FNV-1a of the letter a)", () => {
    expect(hash("a")).toBe(0xe40c292c);
  });
});
