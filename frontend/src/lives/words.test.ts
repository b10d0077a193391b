import { describe, expect, it } from "vitest";
import type { Hidden, Tile } from "../drawing/tile";
import { parseBytes } from "../format/parse";
import { byteRangeTicks } from "../picture/byteAxis";
import { placed } from "../picture/placing";
import { areaBetween } from "./brushing";
import { hiddenWords } from "./hidden";
import { acrossWords, upWords } from "./ruler";

describe("bytes as people write them", () => {
  it.each([
    ["10 MiB", 10 * 2 ** 20],
    ["1.5g", 1.5 * 2 ** 30],
    ["512", 512],
    ["512 B", 512],
    ["2kb", 2048],
    [" 3 TiB ", 3 * 2 ** 40],
  ])("%s", (text, bytes) => expect(parseBytes(text)).toBe(bytes));

  it.each(["", "MiB", "-1", "1 XiB", "1e3"])("are not %s", (text) =>
    expect(parseBytes(text)).toBeNull(),
  );
});

describe("ticks of bytes", () => {
  it("are where they say, inside of the range", () => {
    for (const range of [
      { begin: 0, end: 3 * 2 ** 30 },
      { begin: 2 ** 30, end: 3 * 2 ** 30 },
      { begin: 77 * 2 ** 30, end: 77 * 2 ** 30 + 100_000 },
    ]) {
      const { ticks, base } = byteRangeTicks(range, 8);
      expect(ticks.length).toBeGreaterThan(2);
      expect(ticks.length).toBeLessThan(11);
      for (const { value } of ticks) {
        expect(value).toBeGreaterThanOrEqual(range.begin);
        expect(value).toBeLessThanOrEqual(range.end);
      }
      expect(base === null).toBe(range.begin < 2 ** 31);
      expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
    }
  });
});

describe("a ruler", () => {
  it("tells both lengths, the second with its sign", () => {
    const ruler = { from: { at: 100, bytes: 2048 }, to: { at: 40, bytes: 1024 } };
    expect(acrossWords(ruler, "event")).toBe("Δ 60 events");
    expect(acrossWords(ruler, "time")).toBe("Δ 60.0\u00a0ns");
    expect(upWords(ruler)).toBe("Δ −1.00\u00a0KiB");
  });
});

describe("a brush", () => {
  const spots = { from: { at: 10, bytes: 100 }, to: { at: 50, bytes: 700 } };
  const [whole, tall] = [
    { begin: 0, end: 100 },
    { begin: 0, end: 1000 },
  ];
  it("is of both directions, or of the one the hand kept to", () => {
    const area = (x: number, y: number) =>
      areaBetween({ x: 0, y: 0 }, { x, y }, spots, whole, tall);
    expect(area(200, 90)).toEqual({
      window: { begin: 10, end: 50 },
      bytes: { begin: 100, end: 700 },
    });
    expect(area(200, 5).bytes).toBeNull();
    expect(area(3, 90).window).toBeNull();
  });
});

describe("a picture drawn for another view", () => {
  it("lies where its bytes and instants are now", () => {
    const view = { begin: 100, end: 300, low: 1000, high: 5000, width: 400, height: 200 };
    const plot = { left: 68, top: 20, width: 400, height: 200, columns: 400 };
    const numbers = (text: string) => (text.match(/-?[\d.]+/g) ?? []).map(Number);
    const same = placed(view, { begin: 100, end: 300 }, { begin: 1000, end: 5000 }, plot);
    expect(numbers(same)).toEqual([0, -1, 1, 0, 0, 200]);
    // Half as wide a window, a quarter of its height further up: twice as large, and moved.
    const zoomed = placed(view, { begin: 200, end: 300 }, { begin: 2000, end: 4000 }, plot);
    expect(numbers(zoomed)).toEqual([0, -2, 2, 0, -400, 300]);
  });
});

describe("what is too much for a picture", () => {
  const tile = (hidden: Partial<Hidden>) =>
    ({
      about: {
        hidden: { rows: 0, bytes: 0, left: 0, left_bytes: 0, ranges: 0, range_bytes: 0, ...hidden },
      },
    }) as Tile;
  const said = (...tiles: Tile[]) => hiddenWords(tiles).replaceAll("\u00a0", " ");

  it("is told with its bytes, over all tiles", () => {
    expect(said()).toBe("");
    expect(said(tile({}), tile({}))).toBe("");
    expect(said(tile({ rows: 3, bytes: 2048 }))).toMatch(
      /^3 smaller allocations, 2\.00 KiB, are not drawn by themselves/,
    );
    const two = said(tile({ rows: 3, bytes: 2048 }), tile({ rows: 1, bytes: 1024 }));
    expect(two).toMatch(/^Up to 4 smaller allocations, 3\.00 KiB, are not drawn/);
  });

  it("tells what is in no strip either", () => {
    expect(said(tile({ left: 1, left_bytes: 2048 }))).toBe(
      "1 allocation, 2.00 KiB, is not drawn at all.",
    );
  });

  it("what has no address is told once", () => {
    const one = {
      about: { ...tile({}).about, unplaced: { count: 1, bytes: 3 * 2 ** 20 } },
    } as Tile;
    expect(said(one, one)).toBe(
      "3.00 MiB that were alive before the window are not shown: the source has their sum only, and no addresses.",
    );
    const none = { about: { ...tile({}).about, unplaced: { count: 0, bytes: 0 } } } as Tile;
    expect(said(none)).toBe("");
  });

  it("ranges of addresses are told too", () => {
    const left = tile({ ranges: 7, range_bytes: 512 });
    expect(said(left)).toBe(
      "7 smaller ranges of addresses, 512 B, are not shaded as mapped; zoom in to see them.",
    );
    expect(said(left, left)).toMatch(/^Up to 14 smaller ranges of addresses, 1\.00 KiB, are not/);
  });
});
