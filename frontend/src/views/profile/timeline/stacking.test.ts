import { describe, expect, it } from "vitest";
import { sampleUsage } from "./sample";
import { isUnattributed, largestGroups, layerAt, stackingOrder, stackTops } from "./stacking";

const named = (category: string) => ({ key: category, label: category, category });

describe("order", () => {
  it("puts categories in the schema's order, the rest and before the window on top", () => {
    const groups = [
      { key: "…before", label: "before the window" },
      named("activation"),
      { key: "…rest", label: "12 more" },
      named("unknown"),
      named("parameter"),
      named("optimizer_state"),
    ];
    expect(stackingOrder(groups)).toEqual([4, 5, 1, 3, 2, 0]);
  });
  it("keeps other groups as they came", () => {
    const groups = ["b", "a", "c"].map((key) => ({ key, label: key }));
    expect(stackingOrder(groups)).toEqual([0, 1, 2]);
  });
});

it("unattributed groups are unknown and before the window", () => {
  expect(isUnattributed({ key: "…before", label: "" })).toBe(true);
  expect(isUnattributed(named("unknown"))).toBe(true);
  expect(isUnattributed(named("gradient"))).toBe(false);
});

describe("layers", () => {
  const usage = sampleUsage([
    { begin: 0, end: 1, values: [5, 0, 2] },
    { begin: 1, end: 2, values: [1, 3, 4] },
  ]);
  const tops = stackTops(usage, [2, 0, 1]);
  it("stand on each other and end at allocated", () => {
    expect(tops.map((top) => [...top])).toEqual([
      [2, 4],
      [7, 5],
      [7, 8],
    ]);
    expect(tops.at(-1)).toEqual(usage.allocated);
  });
  it("are found by height, an empty one never", () => {
    expect(layerAt(tops, 0, 1)).toBe(0);
    expect(layerAt(tops, 0, 2)).toBe(1);
    expect(layerAt(tops, 0, 7)).toBe(-1);
    expect(layerAt(tops, 1, 7.5)).toBe(2);
    expect(layerAt(tops, 1, -1)).toBe(-1);
  });
});

it("the largest groups of a row leave a remainder that is counted", () => {
  const usage = sampleUsage([{ begin: 0, end: 1, values: [1, 0, 9, 4, 3] }]);
  expect(largestGroups(usage, 0, 2)).toEqual({ top: [2, 3], more: 2, moreBytes: 4 });
});
