import { describe, expect, it } from "vitest";
import { cover, type Held } from "./cover";
import { besides, COLUMNS, placesFor, rangeOf, shapeFor } from "./grid";

const WHOLE = { begin: 0, end: 100_000 };

describe("the grid", () => {
  it("has between one and two bins a pixel, of a power of two", () => {
    for (const [begin, end, width] of [
      [0, 100_000, 700],
      [123, 4567, 1600],
      [99_000, 100_000, 333],
    ] as const) {
      const places = placesFor({ begin, end }, WHOLE, width);
      const bin = 2 ** (places[0]?.level ?? 0);
      expect((end - begin) / bin).toBeGreaterThanOrEqual(bin === 1 ? 1 : width);
      expect((end - begin) / bin).toBeLessThan(2 * width);
      expect(rangeOf(places[0] as never).begin).toBeLessThanOrEqual(begin);
      expect(rangeOf(places.at(-1) as never).end).toBeGreaterThanOrEqual(end);
      const indices = places.map(({ index }) => index);
      expect(indices).toEqual(indices.map((_, at) => (indices[0] ?? 0) + at));
    }
  });

  it("asks for nothing outside of the recording, and goes below zero in time", () => {
    expect(placesFor({ begin: 0, end: 10 }, { begin: 0, end: 10 }, 800)).toEqual([
      { level: 0, index: 0 },
    ]);
    const early = placesFor({ begin: -900, end: -600 }, { begin: -1000, end: 1000 }, 300);
    expect(early).toEqual([{ level: 0, index: -2 }]);
  });

  it("goes on to both sides, as far as the recording does", () => {
    const places = [1, 2].map((index) => ({ level: 0, index }));
    const to = (end: number) => besides(places, { begin: 0, end }).map(({ index }) => index);
    expect(to(10 * COLUMNS)).toEqual([3, 0]);
    expect(to(3 * COLUMNS)).toEqual([0]);
    expect(besides(places.slice(0, 1), { begin: COLUMNS, end: 2 * COLUMNS })).toEqual([]);
    expect(besides([], WHOLE)).toEqual([]);
  });

  it("has a vertical of whole steps that holds what is seen, at most a pixel a pixel", () => {
    for (const [begin, end, height] of [
      [0, 2 ** 34, 700],
      [12_345_678, 98_765_432, 801],
      [2 ** 36 + 5, 2 ** 36 + 900, 600],
      [0, 2, 500],
    ] as const) {
      const shape = shapeFor({ begin, end }, height);
      const pixel = (shape.high - shape.low) / shape.height;
      expect(shape.low).toBeLessThanOrEqual(begin);
      expect(shape.high).toBeGreaterThanOrEqual(end);
      expect(Math.log2(pixel) % 1).toBe(0);
      expect(pixel).toBeLessThanOrEqual(Math.max(1, (end - begin) / height));
      expect(shape.low % (256 * pixel)).toBe(0);
    }
  });
});

describe("a cover", () => {
  const shape = { low: 0, high: 1024, height: 1024 };
  const held = (level: number, index: number, other: Partial<Held> = {}): Held => ({
    ...shape,
    level,
    index,
    key: `${level}/${index}`,
    ...other,
  });
  const bytes = { begin: 0, end: 1000 };
  const places = [
    { level: 3, index: 2 },
    { level: 3, index: 3 },
  ];
  const at = (level: number, index: number) => rangeOf({ level, index });

  it("takes the right tiles where they are at hand", () => {
    const found = cover(places, shape, bytes, [held(3, 2), held(3, 3), held(4, 1)]);
    expect(found.missing).toEqual([]);
    expect(found.parts.map(({ key }) => key)).toEqual(["3/2", "3/3"]);
  });

  it("lets finer ones stand in where they are complete, else a coarser one", () => {
    const found = cover(places, shape, bytes, [
      held(2, 4),
      held(2, 5),
      held(2, 6),
      held(5, 0),
      held(6, 0),
    ]);
    expect(found.missing).toEqual(places);
    expect(found.parts).toEqual([
      { key: "2/4", ...at(2, 4) },
      { key: "2/5", ...at(2, 5) },
      { key: "5/0", ...at(3, 3) },
    ]);
  });

  it("takes no tile that does not show all that is seen", () => {
    const low = held(4, 1, { low: 512, key: "cut" });
    const coarse = held(4, 1, { height: 256, key: "coarse" });
    const found = cover(places, shape, bytes, [low, coarse]);
    expect(found.parts.map(({ key }) => key)).toEqual(["coarse", "coarse"]);
    expect(cover(places, shape, bytes, [low]).parts).toEqual([]);
    expect(at(4, 1)).toEqual({ begin: COLUMNS * 16, end: COLUMNS * 32 });
  });
});
