import { tableFromArrays, tableToIPC } from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { decodePools, decodeSegments, type SegmentState } from "../../../api";
import { covers, startsOf, stretchesAt, thingAt, thingIn } from "./blocks";
import {
  firstBelow,
  GAP,
  HEAD,
  LINE,
  layOut,
  lineBetween,
  placeAt,
  scrollTo,
  stripsOf,
  topOf,
} from "./layout";
import { shareThatPasses } from "./paintBlocks";

/** A state of segments with (group, size) and blocks with (segment, offset, size). */
function made(
  segments: readonly (readonly [number, number])[],
  blocks: readonly (readonly [number, number, number])[] = [],
): SegmentState {
  const zeros = () => new Float64Array(segments.length);
  const none = () => new Float64Array(blocks.length);
  let place = 0;
  const places = segments.map(([, size]) => {
    place += size;
    return place - size;
  });
  return {
    about: {} as SegmentState["about"],
    segments: {
      length: segments.length,
      address: places.map((at) => 0x7f00_0000_0000_0000n + BigInt(at * 2)),
      size: Float64Array.from(segments, ([, size]) => size),
      place: Float64Array.from(places),
      group: Float64Array.from(segments, ([group]) => group),
      kind: zeros(),
      expandable: zeros(),
      birth: zeros(),
      ranges: zeros(),
      blocks: zeros(),
      holes: zeros(),
      largestOffset: zeros(),
      largestFree: zeros(),
      used: zeros(),
      requested: zeros(),
      pending: zeros(),
    },
    blocks: {
      length: blocks.length,
      segment: Float64Array.from(blocks, ([segment]) => segment),
      offset: Float64Array.from(blocks, ([, offset]) => offset),
      size: Float64Array.from(blocks, ([, , size]) => size),
      used: none(),
      requested: none(),
      pending: none(),
      count: none(),
      inferred: none(),
      allocation: none(),
      band: none(),
      passing: new Float64Array(0),
    },
  };
}

describe("lines of segments", () => {
  it("are filled one after the other, a group at a time, to one scale", () => {
    const { segments } = made([
      [0, 400],
      [0, 500],
      [0, 300],
      [1, 100],
    ]);
    const layout = layOut(segments, 1000, 1000);
    expect([...layout.left]).toEqual([0, 400 + GAP, 0, 0]);
    expect([...layout.top]).toEqual([HEAD, HEAD, HEAD + LINE, 2 * HEAD + 2 * LINE]);
    expect(layout.heads).toEqual([
      { group: 0, top: 0 },
      { group: 1, top: HEAD + 2 * LINE },
    ]);
    expect(layout.height).toBe(2 * HEAD + 3 * LINE);
    expect(stripsOf(layout, segments, 1)).toEqual([
      { from: 0, to: 500, x: 403, y: HEAD, width: 500 },
    ]);
  });

  it("go on below where a segment is longer than a line, and nothing stands beside its end", () => {
    const { segments } = made([
      [0, 100],
      [0, 2500],
      [0, 100],
    ]);
    const layout = layOut(segments, 500, 1000);
    expect(stripsOf(layout, segments, 1)).toEqual([
      { from: 0, to: 1000, x: 0, y: HEAD + LINE, width: 500 },
      { from: 1000, to: 2000, x: 0, y: HEAD + 2 * LINE, width: 500 },
      { from: 2000, to: 2500, x: 0, y: HEAD + 3 * LINE, width: 250 },
    ]);
    expect(layout.top[2]).toBe(HEAD + 4 * LINE);
    const middle = HEAD + 2 * LINE;
    expect(stripsOf(layout, segments, 1, middle, middle + 1)).toHaveLength(1);
  });

  it("never hide a segment, however small", () => {
    const { segments } = made([
      [0, 1e12],
      [0, 1],
    ]);
    const layout = layOut(segments, 800, 1e12);
    expect(stripsOf(layout, segments, 1)[0]?.width).toBe(3);
  });

  it("find the byte under any pixel, and the pixel of any byte", () => {
    const sizes = [30, 900, 4000, 5, 5, 700, 2000, 10];
    const { segments } = made(sizes.map((size, row) => [row >> 1, size]));
    const layout = layOut(segments, 700, 1000);
    const strips = sizes.flatMap((_, row) =>
      stripsOf(layout, segments, row).map((strip) => ({ ...strip, row })),
    );
    let seen = 0;
    for (let y = 0; y < layout.height; y += 3) {
      for (let x = 0; x < 700; x += 1.5) {
        const found = placeAt(layout, segments, x, y);
        const under = strips.find(
          (strip) =>
            x >= strip.x && x < strip.x + strip.width && y >= strip.y && y < strip.y + LINE,
        );
        expect(found?.segment).toBe(under?.row);
        if (!found || !under) continue;
        seen++;
        expect(found.offset).toBeGreaterThanOrEqual(under.from);
        expect(found.offset).toBeLessThan(under.to);
        expect(topOf(layout, found)).toBe(under.y);
      }
    }
    expect(seen).toBeGreaterThan(1000);
    expect(firstBelow(layout, layout.height)).toBe(segments.length);
  });

  it("are scrolled to, with what is around them, but never beyond their ends", () => {
    const { segments } = made(Array.from({ length: 20 }, () => [0, 1000]));
    const layout = layOut(segments, 500, 1000);
    const [seen, last] = [10 * LINE, HEAD + 19 * LINE];
    expect(layout.height).toBe(last + LINE);
    expect(scrollTo(layout, last, 0, seen)).toBe(layout.height - seen);
    expect(scrollTo(layout, last - 5 * LINE, 0, seen)).toBe(last - 3 * LINE - seen);
    expect(scrollTo(layout, 2 * LINE, 5 * LINE, seen)).toBe(2 * LINE - HEAD);
    expect(scrollTo(layout, HEAD, 5 * LINE, seen)).toBe(0);
    expect(scrollTo(layout, 6 * LINE, 5 * LINE, seen)).toBe(5 * LINE);
    // All of it is in view: there is nowhere to scroll.
    expect(scrollTo(layout, last, 0, layout.height + 12)).toBe(0);
    expect(scrollTo(layout, last, 0, layout.height - 1)).toBe(1);
  });

  it("say which part of all segments is in view", () => {
    const { segments } = made([
      [0, 100],
      [0, 2500],
      [0, 100],
    ]);
    const layout = layOut(segments, 500, 1000);
    const second = HEAD + 2 * LINE;
    expect(lineBetween(layout, segments, second, second + 2)).toEqual({ begin: 1100, end: 2100 });
    expect(lineBetween(layout, segments, 0, 1e9)).toEqual({ begin: 0, end: 2700 });
    expect(lineBetween(layout, made([]).segments, 0, 100)).toBeNull();
  });
});

describe("what is in a segment", () => {
  const state = made(
    [
      [0, 100],
      [0, 100],
    ],
    [
      [0, 10, 20],
      [0, 50, 50],
      [1, 0, 40],
    ],
  );
  const starts = startsOf(state.blocks, 2);

  it("is a block, or the hole between two", () => {
    expect([...starts]).toEqual([0, 2, 3]);
    const at = (segment: number, offset: number) => thingAt(state, starts, { segment, offset });
    expect(at(0, 0)).toEqual({ kind: "free", from: 0, to: 10 });
    expect(at(0, 10)).toEqual({ kind: "block", row: 0 });
    expect(at(0, 29)).toEqual({ kind: "block", row: 0 });
    expect(at(0, 30)).toEqual({ kind: "free", from: 30, to: 50 });
    expect(at(0, 99)).toEqual({ kind: "block", row: 1 });
    expect(at(1, 40)).toEqual({ kind: "free", from: 40, to: 100 });
  });

  it("is told by the detail as far as that reaches, and by the whole beyond", () => {
    const sourceOf = (state: SegmentState, begin: number, end: number) => ({
      state: { ...state, about: { ...state.about, begin, end } },
      starts: startsOf(state.blocks, state.segments.length),
    });
    const sizes = [
      [0, 50],
      [0, 1000],
    ] as const;
    // Blocks from 0 to 300 are one in the whole; the detail, from 200 on, has the last two of them.
    const whole = sourceOf(made(sizes, [[1, 0, 300]]), 0, 1050);
    const detail = sourceOf(
      made(sizes, [
        [1, 180, 30],
        [1, 290, 10],
      ]),
      250,
      650,
    );
    const at = (offset: number) => {
      const { state, ...thing } = thingIn(whole, detail, { segment: 1, offset });
      return [state === detail.state, thing];
    };
    expect(at(185)).toEqual([true, { kind: "block", row: 0 }]);
    expect(at(220)).toEqual([true, { kind: "free", from: 210, to: 290 }]);
    expect(at(100)).toEqual([false, { kind: "block", row: 0 }]);
    expect(at(500)).toEqual([false, { kind: "free", from: 300, to: 1000 }]);
    expect(thingIn(whole, null, { segment: 1, offset: 295 }).state).toBe(whole.state);
    expect(covers(detail, 250, 650)).toBe(true);
    expect(covers(detail, 249, 300)).toBe(false);
  });

  it("is found by address beyond what numbers hold, over several segments if it must be", () => {
    const all = made([
      [0, 100],
      [0, 100],
    ]);
    all.segments.address = [0xffff_ffff_ffff_0000n, 0xffff_ffff_ffff_0064n];
    expect(stretchesAt(all, "0xffffffffffff0032", 80)).toEqual([
      { segment: 0, from: 50, to: 100 },
      { segment: 1, from: 0, to: 30 },
    ]);
    expect(stretchesAt(all, "0x10", 8)).toEqual([]);
  });
});

describe("what passes a filter", () => {
  it("is a share of each row, all of it without a filter", () => {
    const { blocks } = made(
      [[0, 100]],
      [
        [0, 0, 20],
        [0, 20, 40],
        [0, 60, 10],
      ],
    );
    expect([0, 1, 2].map((row) => shareThatPasses(blocks, row))).toEqual([1, 1, 1]);
    blocks.used = Float64Array.of(20, 40, 10);
    blocks.passing = Float64Array.of(0, 10, 10);
    expect([0, 1, 2].map((row) => shareThatPasses(blocks, row))).toEqual([0, 0.25, 1]);
  });
});

describe("answers", () => {
  const ipc = (columns: Record<string, unknown>, about?: [string, object]): Uint8Array => {
    const table = tableFromArrays(columns as never);
    if (about) table.schema.metadata = new Map([[about[0], JSON.stringify(about[1])]]);
    return tableToIPC(table, { format: "stream" }) as Uint8Array;
  };

  it("of segments are two tables after their lengths", () => {
    const parts = [
      ipc({ address: BigUint64Array.of(2n ** 63n + 5n), size: [100n], place: [0n] }, [
        "state",
        { event: 7 },
      ]),
      ipc({ segment: [0], offset: [10n], size: [20n], allocation: [-1] }),
    ];
    const body = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.length, 0));
    let at = 0;
    for (const part of parts) {
      new DataView(body.buffer).setUint32(at, part.length, true);
      body.set(part, at + 4);
      at += 4 + part.length;
    }
    const state = decodeSegments(body);
    expect(state.about.event).toBe(7);
    expect(state.segments.address).toEqual([2n ** 63n + 5n]);
    expect(state.blocks.length).toBe(1);
    expect([...state.blocks.allocation]).toEqual([-1]);
    expect(() => decodeSegments(new Uint8Array(0))).toThrow("two tables");
  });

  it("of pools have a pair of columns a group", () => {
    const groups = [
      { key: "a", label: "a", reserved_peak: 8 },
      { key: "b", label: "b", reserved_peak: 1 },
    ];
    const columns = {
      begin: [0n],
      end: [1n],
      event: [-1n],
      r0: [8n],
      a0: [5n],
      r1: [1n],
      a1: [0n],
    };
    const pools = decodePools(ipc(columns, ["window", { groups }]));
    expect(pools.reserved.map((each) => [...each])).toEqual([[8], [1]]);
    expect(pools.allocated.map((each) => [...each])).toEqual([[5], [0]]);
  });
});
