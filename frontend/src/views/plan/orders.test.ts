import { describe, expect, it } from "vitest";
import type { PlanBars } from "../../api/bars";
import { times } from "../../format";
import { programLife } from "../../inspector/life";
import { tell } from "./bufferWords";
import { ordered, placeAt, REST, rowAt, spanOf, step } from "./orders";

function barsOf(
  sizes: readonly number[],
  unpadded = sizes,
  leftOut = 0,
  leftOutBytes = 0,
): PlanBars {
  const none = sizes.map(() => null);
  const numbers = (values: readonly number[]) => Float64Array.from(values);
  return {
    event: 0,
    total: sizes.reduce((sum, size) => sum + size, leftOutBytes),
    count: sizes.length + leftOut,
    leftOut,
    leftOutBytes,
    by: "",
    groups: [],
    id: numbers(sizes.map((_, row) => 10 + row)),
    bytes: numbers(sizes),
    unpadded: numbers(unpadded),
    birth: numbers(sizes.map(() => Number.NaN)),
    death: numbers(sizes.map((_, row) => row)),
    band: numbers(sizes.map(() => Number.NaN)),
    name: none,
    dtype: sizes.map(() => "f32"),
    shape: sizes.map(() => "[4]{0}"),
    kind: none,
  };
}

const rowsOf = (bars: PlanBars, width = 1000) =>
  Object.fromEntries(ordered(bars, width).orders.map(({ key, rows }) => [key, [...rows]]));

describe("orders of buffers", () => {
  it("are program order, size, and padding; the same goes on as the order before", () => {
    const bars = barsOf([100, 300, 200, 200], [100, 300, 120, 40]);
    expect(rowsOf(bars)).toEqual({
      program: [0, 1, 2, 3],
      size: [1, 2, 3, 0],
      padding: [3, 2, 1, 0],
    });
  });

  it("put together what is less than a pixel, and what was left out", () => {
    const { orders, rest } = ordered(barsOf([1, 500, 2, 497], undefined, 7, 20), 100);
    expect(orders.map(({ rows }) => [...rows])).toEqual([
      [1, 3],
      [1, 3],
      [1, 3],
    ]);
    expect(rest).toEqual({ count: 9, bytes: 23 });
  });

  it("have one that is small alone by itself", () => {
    const { orders, rest } = ordered(barsOf([1, 500, 499]), 100);
    expect([...(orders[0]?.rows ?? [])]).toEqual([0, 1, 2]);
    expect(rest).toEqual({ count: 0, bytes: 0 });
  });

  it("draw small ones too where nothing else is there", () => {
    const { orders, rest } = ordered(barsOf(Array.from({ length: 800 }, () => 64)), 100);
    expect(orders[0]?.rows.length).toBe(800);
    expect(rest).toEqual({ count: 0, bytes: 0 });
  });

  it("tell which buffer a byte is in, and where a buffer is", () => {
    const bars = barsOf([100, 300, 1, 200, 1]);
    const { orders, total } = ordered(bars, 100);
    const bySize = orders[1];
    if (!bySize) throw new Error("no order");
    const at = (byte: number) => placeAt(bySize, byte, total);
    expect([0, 299, 300, 499, 500, 599].map(at)).toEqual([0, 0, 1, 1, 2, 2]);
    expect([at(601), at(602), at(-1)]).toEqual([REST, null, null]);
    expect(rowAt(bySize, 1)).toBe(3);
    expect(spanOf(bySize, 3, total)).toEqual([300, 500]);
    expect(spanOf(bySize, 2, total)).toBeNull();
    expect(spanOf(bySize, REST, total)).toEqual([600, 602]);
  });

  it("are walked with keys, the small ones last", () => {
    const order = ordered(barsOf([100, 300, 1, 1]), 100).orders[0];
    if (!order) throw new Error("no order");
    expect(step(order, null, "ArrowRight", true)).toBe(0);
    expect(step(order, 0, "ArrowLeft", true)).toBe(0);
    expect(step(order, 1, "ArrowRight", true)).toBe(REST);
    expect(step(order, REST, "ArrowRight", true)).toBe(REST);
    expect(step(order, REST, "ArrowLeft", true)).toBe(1);
    expect(step(order, 1, "ArrowRight", false)).toBe(1);
    expect(step(order, 0, "End", true)).toBe(REST);
    expect(step(order, REST, "Home", true)).toBe(0);
    expect(step(order, 1, "x", true)).toBe(1);
  });
});

describe("a buffer in words", () => {
  it("has padding only where there is some", () => {
    const bars = barsOf([1024, 512], [256, 512]);
    expect(tell(bars, 0).rows.map(([label]) => label)).toContain("expansion");
    expect(new Map(tell(bars, 0).rows).get("expansion")).toBe("4×");
    expect(tell(bars, 1).rows.map(([label]) => label)).toEqual(["shape", "size", "life"]);
  });

  it("says how many times as large it is, and how long it lives", () => {
    expect(times(1000, 750)).toBe("1.33×");
    expect(times(8, 0)).toBe("–");
    expect(programLife(null, null)).toBe("the whole program");
    expect(programLife(Number.NaN, 4)).toBe("the start to event 4 of the program");
    expect(programLife(3, null)).toBe("event 3 to the end of the program");
  });
});
