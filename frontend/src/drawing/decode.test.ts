import {
  float64,
  int32,
  int64,
  tableFromArrays,
  tableToIPC,
  uint8,
  uint16,
} from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { decodeTile } from "./decode";

const LARGE = 9_007_199_254_740_991n;
const ABOUT = { level: 3, groups: [{ key: "a", label: "a" }], layout: "stacked" };

/** An answer of four streams, each after its length. */
function answer(): Uint8Array {
  const big = (...values: (bigint | null)[]) => values;
  const tables = [
    tableFromArrays(
      {
        begin: big(0n, 8n),
        event: big(3n, LARGE),
        time: big(null, 5n),
        total: big(LARGE, 7n),
        count: big(1n, 2n),
        base: big(0n, 0n),
      },
      {
        types: Object.fromEntries(
          "begin event time total count base".split(" ").map((name) => [name, int64()]),
        ),
        useBigInt: true,
      },
    ),
    tableFromArrays(
      {
        allocation: [70_000],
        first: [1],
        last: [65_535],
        bytes: big(LARGE),
        band: [255],
        hit: [1],
        offset: big(0n),
      },
      {
        types: {
          allocation: int32(),
          first: uint16(),
          last: uint16(),
          bytes: int64(),
          band: uint8(),
          hit: uint8(),
          offset: int64(),
        },
        useBigInt: true,
      },
    ),
    tableFromArrays(
      {
        slot: [1, 0, 1],
        part: [4, 2, 4],
        band: [2, 9, 2],
        hit: [0, 1, 0],
        mixed: [1, 0, 1],
        column: [0, 1, 1],
        bytes: big(5n, 6n, -5n),
        count: [1, 1, -1],
      },
      {
        types: {
          slot: int32(),
          part: int32(),
          band: uint8(),
          hit: uint8(),
          mixed: uint8(),
          column: uint16(),
          bytes: int64(),
          count: int32(),
        },
        useBigInt: true,
      },
    ),
    tableFromArrays(
      { column: [], band: [], bytes: [], count: [], allocation: [], hit: [] },
      {
        types: {
          column: uint16(),
          band: uint8(),
          bytes: float64(),
          count: int32(),
          allocation: int32(),
          hit: uint8(),
        },
      },
    ),
  ];
  if (tables[0])
    Object.assign(tables[0].schema, { metadata: new Map([["tile", JSON.stringify(ABOUT)]]) });
  const streams = tables.map((table) => tableToIPC(table, { format: "stream" }) as Uint8Array);
  const body = new Uint8Array(streams.reduce((sum, { length }) => sum + 4 + length, 0));
  let place = 0;
  for (const stream of streams) {
    new DataView(body.buffer).setUint32(place, stream.length, true);
    body.set(stream, place + 4);
    place += 4 + stream.length;
  }
  return body;
}

describe("a tile", () => {
  it("is decoded to the byte, whatever is null, negative or empty", () => {
    const { about, columns, rows, gaps, merged } = decodeTile(answer());
    expect(about).toEqual(ABOUT);
    expect([...columns.total]).toEqual([Number(LARGE), 7]);
    expect([...columns.time]).toEqual([Number.NaN, 5]);
    expect([rows.allocation[0], rows.last[0], rows.band[0]]).toEqual([70_000, 65_535, 255]);
    expect(merged.length).toBe(0);
    // Gaps by part, band and hit, numbered in stack order.
    expect([...gaps.slot]).toEqual([0, 1]);
    expect([...gaps.hit, ...gaps.mixed]).toEqual([1, 0, 0, 1]);
    expect([...gaps.band]).toEqual([9, 2]);
    expect([...gaps.changes.gap]).toEqual([1, 0, 1]);
    expect([...gaps.changes.bytes]).toEqual([5, 6, -5]);
  });

  it("is told from what is cut off or something else", () => {
    const whole = answer();
    expect(() => decodeTile(whole.slice(0, whole.length - 3))).toThrow("cut off");
    expect(() => decodeTile(new Uint8Array(0))).toThrow("not a tile");
  });
});
