import { describe, expect, it } from "vitest";
import type { Device } from "../api";
import { columnRows } from "./columns";
import { formulaOf, wasted } from "./fragmentation";
import { FRAGMENTATION, FREE_LIST } from "./height";
import { describeInstant, describe as inWords, readout } from "./readout";
import { highestRow } from "./rows";
import { sampleUsage } from "./sample";
import { levelOf, sceneFor, sheetsFor } from "./scene";

const AREAS = ["stack", "heap", "free"].map((key) => ({ key, label: key }));
/** Stack, heap and free at four events; of the first nothing is reported. */
const usage = sampleUsage(
  [
    { begin: 0, end: 1, values: [Number.NaN, Number.NaN, Number.NaN] },
    { begin: 1, end: 2, values: [100, 20, 880], fragmentation: 0.25 },
    { begin: 2, end: 3, values: [0, 300, Number.NaN] },
    { begin: 3, end: 4, values: [0, 10, 990], fragmentation: 0 },
  ],
  { byArea: true, groups: AREAS },
);
const window = { begin: 0, end: 4 };
const plot = { left: 0, top: 0, width: 40, height: 50, columns: 4 };
const device = {
  allocated_peak: 300,
  peak_event: 2,
  peak_time: 20,
  capacity: 1000,
  allocator: { peak: 300, event: 2, time: 20 },
} as unknown as Device;
const plain = (text: string | null): string => (text ?? "").replace(/\s/g, " ");

describe("areas", () => {
  it("leave a gap where nothing is reported", () => {
    expect([...columnRows(usage, window, 4)]).toEqual([-1, 1, 2, 3]);
    expect([...levelOf(usage)]).toEqual([0, 120, 300, 10]);
    expect(highestRow(usage, 0, 4)).toBe(2);
  });
  it("reach up to what is free while that is drawn", () => {
    const scene = (free: boolean) =>
      sceneFor("event", window, plot, sheetsFor(usage, usage, window, 4, free), device, [], {
        reserved: false,
        capacity: false,
      });
    expect(scene(true).height.top).toBeCloseTo(1000 * 1.06);
    expect(scene(false).height.top).toBeCloseTo(300 * 1.06);
    expect(scene(false).sheets[0]?.tops).toHaveLength(2);
    expect(scene(true).dot).toEqual({ x: 20, bytes: 300, isPeak: true });
  });
  it("are told in the order they stand in, with what is not reported left out", () => {
    const words = readout(usage, 1, "size", "step 0");
    expect(words.rows.map(({ label, value }) => [label, plain(value)])).toEqual([
      ["stack + heap", "120 B"],
      ["fragmentation", "25.0 %"],
      ["step", "step 0"],
    ]);
    expect(words.rows[1]?.exact).toBe(FREE_LIST);
    expect(
      words.groups.map(({ label, value, share }) => [label, plain(value), plain(share)]),
    ).toEqual([
      ["stack", "100 B", "10.0 %"],
      ["heap", "20 B", "2.0 %"],
      ["free", "880 B", "88.0 %"],
    ]);
    const without = readout(usage, 2, "size", null);
    expect(without.groups.map(({ label }) => label)).toEqual(["stack", "heap"]);
    expect(without.rows.map(({ label }) => label)).toEqual(["stack + heap"]);
  });
  it("are spoken of as stack and heap", () => {
    expect(plain(describeInstant(usage, 1))).toContain("120 B in stack and heap");
    expect(plain(inWords(usage, window, "TPU:0"))).toContain(
      "Highest: 300 B (300 bytes) at event 2",
    );
  });
});

describe("the formula of fragmentation", () => {
  it("is the allocator's by area, and where reserved is not known", () => {
    expect(formulaOf(usage)).toBe(FREE_LIST);
    expect([1, 2, 3, -1].map((row) => wasted(usage, row))).toEqual([0.25, null, 0, null]);
    const groups = sampleUsage([{ begin: 0, end: 1, values: [5], fragmentation: 0.5 }]);
    expect([formulaOf(groups), wasted(groups, 0)]).toEqual([FREE_LIST, 0.5]);
  });
  it("is that of reserved where that is known, and none where nothing is", () => {
    const held = sampleUsage([{ begin: 0, end: 1, values: [75], reserved: 100 }]);
    expect([formulaOf(held), wasted(held, 0)]).toEqual([FRAGMENTATION, 0.25]);
    expect(formulaOf(sampleUsage([{ begin: 0, end: 1, values: [75] }]))).toBeNull();
  });
});
