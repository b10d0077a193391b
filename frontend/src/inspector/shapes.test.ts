import { describe, expect, it } from "vitest";
import { multiplesOf, type Recurring, shapesOf } from "./shapes";

const HIDDEN = 4096;
const INNER = 11_008;
const VOCABULARY = 32_000;

/** Sizes of a transformer's weights in half precision. */
const WEIGHTS: Recurring[] = [
  { bytes: 2 * HIDDEN * HIDDEN, count: 128 },
  { bytes: 2 * HIDDEN * INNER, count: 96 },
  { bytes: 2 * HIDDEN * VOCABULARY, count: 2 },
  { bytes: 2 * HIDDEN, count: 65 },
];

describe("multiples", () => {
  it("are of sizes that recur, the fewest first", () => {
    const found = multiplesOf(6 * HIDDEN * HIDDEN, WEIGHTS);
    expect(found[0]).toEqual({ times: 3, of: WEIGHTS[0] });
    expect(found.every(({ times, of }) => times * of.bytes === 6 * HIDDEN * HIDDEN)).toBe(true);
  });

  it("are none where nothing fits", () => {
    expect(multiplesOf(1001, WEIGHTS)).toEqual([]);
    expect(multiplesOf(WEIGHTS[2]?.bytes ?? 0, [WEIGHTS[2] as Recurring])).toEqual([]);
    expect(multiplesOf(2 * HIDDEN, [{ bytes: HIDDEN, count: 1 }])).toEqual([]);
  });
});

describe("shapes", () => {
  it("have the dimensions that recur", () => {
    expect(shapesOf(2 * 8 * HIDDEN * INNER, WEIGHTS)[0]).toEqual({
      dimensions: [8, HIDDEN, INNER],
      width: 2,
    });
    expect(shapesOf(2 * HIDDEN * VOCABULARY, WEIGHTS)[0]?.dimensions).toEqual([HIDDEN, VOCABULARY]);
  });

  it("always hold exactly the bytes", () => {
    for (let bytes = 1; bytes < 300_000; bytes += 4093) {
      for (const { dimensions, width } of shapesOf(bytes * HIDDEN, WEIGHTS)) {
        expect(dimensions.reduce((product, size) => product * size, width)).toBe(bytes * HIDDEN);
      }
    }
  });

  it("are not made up", () => {
    expect(shapesOf(1009, WEIGHTS)).toEqual([]);
    expect(shapesOf(2 * HIDDEN * INNER, [])).toEqual([]);
  });
});
