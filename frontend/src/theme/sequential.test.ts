import { describe, expect, it } from "vitest";
import { Colours, REST_KEY, UNKNOWN_KEY } from "./palette";
import { sequential } from "./sequential";

const BACKGROUND = { light: "#ffffff", dark: "#303030" } as const;
const SHADES = Array.from({ length: 17 }, (_, index) => index / 16);

/** Red, green and blue as light, 0 to 1 (sRGB's curve). */
const linear = (colour: string): number[] =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });

const weighed = (parts: number[], weights: number[]): number =>
  parts.reduce((sum, part, at) => sum + part * (weights[at] as number), 0);

const luminance = (colour: string) => weighed(linear(colour), [0.2126, 0.7152, 0.0722]);

const contrast = (one: string, other: string): number => {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
};

/** Luminance as seen without one kind of cone (Machado, Oliveira and Fernandes 2009). */
const WITHOUT: Readonly<Record<string, number[][]>> = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

describe.each(["light", "dark"] as const)("a scale in the %s theme", (theme) => {
  const colours = SHADES.map((shade) => sequential(theme, shade));

  it("goes from light to dark, each step to be seen", () => {
    for (let at = 1; at < colours.length; at += 1) {
      const [before, after] = [colours[at - 1] as string, colours[at] as string];
      expect(luminance(after)).toBeLessThan(luminance(before));
      expect(contrast(before, after)).toBeGreaterThan(1.05);
    }
  });

  it.each(Object.keys(WITHOUT))("goes from light to dark with %s too", (vision) => {
    const seen = colours.map((colour) => {
      const parts = (WITHOUT[vision] as number[][]).map((row) => weighed(linear(colour), row));
      return weighed(parts, [0.2126, 0.7152, 0.0722]);
    });
    for (let at = 1; at < seen.length; at += 1) {
      expect(seen[at]).toBeLessThan(seen[at - 1] as number);
    }
  });

  it("stands out from the background at both ends", () => {
    for (const colour of colours) {
      expect(contrast(colour, BACKGROUND[theme])).toBeGreaterThan(1.35);
    }
  });

  it("is what a group with a place on it is drawn in, whatever its key", () => {
    const given = new Colours(theme);
    expect(given.of({ key: "1024", shade: 0 })).toBe(colours[0]);
    expect(given.of({ key: "4096", shade: 1 })).toBe(colours.at(-1));
    expect(given.of({ key: "4096" })).not.toBe(colours.at(-1));
    for (const key of [UNKNOWN_KEY, REST_KEY]) {
      expect(given.of({ key, shade: 0.5 })).toBe(given.of({ key }));
    }
  });
});

it("ends where it ends", () => {
  expect(sequential("light", -1)).toBe(sequential("light", 0));
  expect(sequential("light", 2)).toBe(sequential("light", 1));
});
