import { describe, expect, it } from "vitest";
import { columnMaxima, columnRows, eachRun, onlyWhereEmpty } from "./columns";
import { sampleUsage } from "./sample";

/** Bins of `size` units with the given bytes. */
function bins(size: number, bytes: readonly number[], offset = 0) {
  return bytes.map((value, index) => ({
    begin: offset + index * size,
    end: offset + (index + 1) * size,
    values: [value],
  }));
}

describe("columns", () => {
  it("show the highest bin that begins in them", () => {
    const usage = sampleUsage(bins(1, [1, 9, 2, 3, 8, 1, 5, 5]));
    expect([...columnRows(usage, { begin: 0, end: 8 }, 4)]).toEqual([1, 3, 4, 6]);
  });
  it("narrower than a bin show the bin they are in", () => {
    const usage = sampleUsage(bins(4, [1, 2]));
    expect([...columnRows(usage, { begin: 0, end: 8 }, 8)]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });
  it("in a gap show what stood before it, and nothing outside what is loaded", () => {
    const rows = [...bins(1, [7], 2), ...bins(1, [3], 6)];
    const usage = sampleUsage(rows, { begin: 2, end: 8 });
    expect([...columnRows(usage, { begin: 0, end: 10 }, 10)]).toEqual([
      -1, -1, 0, 0, 0, 0, 1, 1, -1, -1,
    ]);
  });
  it("count a bin that the window cuts in their first", () => {
    const usage = sampleUsage(bins(8, [9, 1]));
    expect(columnRows(usage, { begin: 4, end: 16 }, 2)[0]).toBe(0);
  });
  it("of nothing show nothing", () => {
    expect([...columnRows(sampleUsage([]), { begin: 0, end: 8 }, 3)]).toEqual([-1, -1, -1]);
    expect(columnRows(sampleUsage(bins(1, [1])), { begin: 0, end: 1 }, 0)).toHaveLength(0);
  });
  it("never lose the peak, whatever the window and width", () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    const bytes = Array.from({ length: 3000 }, () => Math.floor(random() * 1000));
    const peak = 1717;
    bytes[peak] = 100_000;
    const usage = sampleUsage(bins(1, bytes));
    for (let trial = 0; trial < 500; trial++) {
      const begin = random() * peak;
      const end = peak + 1 + random() * (2999 - peak);
      const width = 1 + Math.floor(random() * 900);
      expect(columnRows(usage, { begin, end }, width)).toContain(peak);
    }
  });
});

it("runs join columns that show the same row and skip those that show none", () => {
  const seen: number[][] = [];
  eachRun(Int32Array.of(-1, 3, 3, 4, -1, 4), (...run) => seen.push(run));
  expect(seen).toEqual([
    [3, 1, 3],
    [4, 3, 4],
    [4, 5, 6],
  ]);
});

it("maxima are of all rows a column stands for, not of the one it shows", () => {
  const usage = sampleUsage(bins(1, [9, 1, 2, 3]));
  const reserved = Float64Array.of(10, 20, 30, Number.NaN);
  expect([...columnMaxima(usage, reserved, { begin: 0, end: 4 }, 2)]).toEqual([20, 30]);
  expect([...columnMaxima(usage, reserved, { begin: 2, end: 6 }, 4)]).toEqual([
    30,
    Number.NaN,
    Number.NaN,
    Number.NaN,
  ]);
});

it("an answer under another fills only what that leaves empty", () => {
  expect([...onlyWhereEmpty(Int32Array.of(1, 2, 3), Int32Array.of(-1, 7, -1))]).toEqual([1, -1, 3]);
});
