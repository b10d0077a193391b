import { describe, expect, it } from "vitest";
import type { Pools } from "../../../api";
import { envelope } from "./columns";

function pools(rows: readonly (readonly [number, number, number, number])[]): Pools {
  const column = (at: number) => Float64Array.from(rows, (row) => row[at] as number);
  return {
    window: {} as Pools["window"],
    length: rows.length,
    begin: column(0),
    end: column(1),
    event: column(0),
    reserved: [column(2)],
    allocated: [column(3)],
  };
}

describe("a pool's envelope", () => {
  const four = pools([
    [0, 1, 10, 5],
    [1, 2, 30, 2],
    [2, 3, 20, 9],
    [6, 7, 0, 0],
  ]);

  it("keeps the highest of the bins in a column", () => {
    const { reserved, allocated } = envelope(four, 0, { begin: 0, end: 8 }, 2);
    expect([...reserved]).toEqual([30, 20]);
    expect([...allocated]).toEqual([9, 9]);
  });

  it("stays as it was where nothing happened", () => {
    const { reserved } = envelope(four, 0, { begin: 0, end: 7 }, 7);
    expect([...reserved]).toEqual([10, 30, 20, 20, 20, 20, 0]);
  });

  it("leaves empty what is not known", () => {
    const { reserved } = envelope(four, 0, { begin: 5, end: 9 }, 4);
    expect([...reserved]).toEqual([20, 0, Number.NaN, Number.NaN]);
    expect([...envelope(four, 3, { begin: 0, end: 1 }, 1).reserved]).toEqual([Number.NaN]);
  });
});
