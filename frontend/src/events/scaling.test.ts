import { describe, expect, it } from "vitest";
import { CHUNK, chunksFor, ROW, scalingFor, scrollFor, topAt, topToSee } from "./scaling";

describe("a list in a box", () => {
  it("scrolls pixel by pixel while it is short", () => {
    const scaling = scalingFor(1000, 10 * ROW);
    expect(scaling.height).toBe(1000 * ROW);
    expect(topAt(scaling, 5 * ROW)).toBeCloseTo(5);
    expect(scrollFor(scaling, 990)).toBe(scaling.reach);
  });

  it.each([3, 50, 1_000, 400_000, 10_000_000, 4_000_000_000])(
    "of %i rows has all of them in reach",
    (count) => {
      const seen = 300;
      const scaling = scalingFor(count, seen);
      expect(scaling.height).toBeLessThanOrEqual(8_000_000);
      expect(topAt(scaling, 0)).toBe(0);
      expect(topAt(scaling, scaling.reach)).toBeCloseTo(Math.max(0, count - seen / ROW));
      for (const share of [0, 0.1, 0.5, 0.99, 1]) {
        const top = share * scaling.last;
        expect(topAt(scaling, scrollFor(scaling, top))).toBeCloseTo(top, 3);
      }
    },
  );

  it("moves as little as it must to show a row", () => {
    const scaling = scalingFor(100, 10 * ROW);
    expect(topToSee(scaling, 20, 10 * ROW, 25)).toBe(20);
    expect(topToSee(scaling, 20, 10 * ROW, 13)).toBe(13);
    expect(topToSee(scaling, 20, 10 * ROW, 30)).toBe(21);
    expect(topToSee(scaling, 85, 10 * ROW, 99)).toBe(90);
  });

  it("puts a row from afar into the middle", () => {
    const scaling = scalingFor(100, 10 * ROW);
    expect(topToSee(scaling, 0, 10 * ROW, 60)).toBe(55);
    expect(topToSee(scaling, 0, 10 * ROW, 99)).toBe(90);
    expect(topToSee(scaling, 80, 10 * ROW, 2)).toBe(0);
  });

  it("asks for the chunks that are in view and for no others", () => {
    expect(chunksFor(0, 10 * ROW, 5)).toEqual([0]);
    expect(chunksFor(CHUNK - 2, 10 * ROW, 10_000)).toEqual([0, 1]);
    expect(chunksFor(9_995, 10 * ROW, 10_000)).toEqual([49]);
    expect(chunksFor(0, 10 * ROW, 0)).toEqual([]);
  });
});
