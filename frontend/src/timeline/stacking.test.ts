import { describe, expect, it } from "vitest";
import { sampleUsage } from "./sample";
import { groupAt, largestGroups, stackTops } from "./stacking";

describe("groups", () => {
  const usage = sampleUsage([
    { begin: 0, end: 1, values: [5, 0, 2] },
    { begin: 1, end: 2, values: [1, 3, 4] },
  ]);
  const tops = stackTops(usage);
  it("stand on each other and end at allocated", () => {
    expect(tops.map((top) => [...top])).toEqual([
      [5, 1],
      [5, 4],
      [7, 8],
    ]);
    expect(tops.at(-1)).toEqual(usage.allocated);
  });
  it("are found by height, an empty one never", () => {
    expect(groupAt(tops, 0, 1)).toBe(0);
    expect(groupAt(tops, 0, 5)).toBe(2);
    expect(groupAt(tops, 0, 7)).toBe(-1);
    expect(groupAt(tops, 1, 1)).toBe(1);
    expect(groupAt(tops, 1, -1)).toBe(-1);
  });
});

it("the largest groups of a row leave a remainder that is counted", () => {
  const usage = sampleUsage([{ begin: 0, end: 1, values: [1, 0, 9, 4, 3] }]);
  expect(largestGroups(usage, 0, 2)).toEqual({ top: [2, 3], more: 2, moreBytes: 4 });
});
