import { describe, expect, it } from "vitest";
import type { TraceItems, TraceTrack } from "../../../api";
import { shortName } from "../../../format";
import { firstAfter, itemAt, itemOf, itemsIn, lanesOf } from "./items";
import { between, HEAD, heightOf, inSight, laneAt, laneBox, PITCH, placeTracks } from "./layout";
import { entry, stepped } from "./walking";

const track = (id: string, lanes: number): TraceTrack => ({
  id,
  name: `thread ${id}`,
  kind: "host",
  spans: 10,
  events: 0,
  begin: 0,
  end: 100,
  device: null,
  lanes,
});

const TRACKS = [track("0", 3), track("1", 1), track("2", 2)];

/** Items of lanes, each `[lane, from, to]`, on track 7 as deep as their lane. */
function itemsOf(rows: readonly (readonly [number, number, number])[], lanes: number): TraceItems {
  const zero = Int32Array.from(rows, () => 0);
  return {
    begin: 0,
    end: 100,
    pixel: 1,
    lanes: Array.from({ length: lanes }, (_, depth) => ["7", depth] as const),
    names: ["one"],
    kinds: ["op"],
    length: rows.length,
    lane: Int32Array.from(rows, ([lane]) => lane),
    from: Float64Array.from(rows, ([, from]) => from),
    to: Float64Array.from(rows, ([, , to]) => to),
    span: Int32Array.from(rows, (_, at) => at),
    count: Int32Array.from(rows, () => 1),
    kind: zero,
    name: zero,
    net: new Float64Array(rows.length),
    busy: new Float64Array(rows.length),
    hits: null,
  };
}

const NESTED = itemsOf(
  [
    [0, 0, 40],
    [0, 50, 90],
    [1, 2, 10],
    [1, 12, 30],
    [1, 60, 70],
    [3, 14, 20],
  ],
  5,
);

describe("tracks in a panel", () => {
  it("lie one below the other, the pinned first, without the hidden", () => {
    const placed = placeTracks(TRACKS, ["2"], ["1"], []);
    expect(placed.map(({ track: { id } }) => id)).toEqual(["2", "0"]);
    expect(placed.map(({ isPinned }) => isPinned)).toEqual([true, false]);
    expect(placed[1]?.top).toBe(placed[0]?.height);
    expect(heightOf(placed)).toBe((placed[0]?.height ?? 0) + (placed[1]?.height ?? 0));
    expect(heightOf([])).toBe(0);
  });
  it("are of one line when folded, whatever their lanes", () => {
    const [deep, other] = placeTracks(TRACKS, [], [], ["0", "1"]);
    expect(deep?.height).toBe(other?.height);
    expect(deep && laneBox(deep, 2)).toEqual(deep && laneBox(deep, 0));
  });
  it("tell what is at a height", () => {
    const placed = placeTracks(TRACKS, [], [], ["1"]);
    const [first, folded, last] = placed;
    const all = inSight(placed, 0, heightOf(placed));
    expect(laneAt(all, HEAD - 1)).toBeNull();
    expect(laneAt(all, HEAD)).toEqual({ track: "0", depth: 0 });
    expect(laneAt(all, HEAD + 2 * PITCH + 3)).toEqual({ track: "0", depth: 2 });
    expect(laneAt(all, (first?.height ?? 0) - 1)).toBeNull();
    expect(laneAt(all, (folded?.top ?? 0) + 3)).toEqual({ track: "1", depth: 0 });
    expect(laneAt(all, (last?.top ?? 0) + HEAD + PITCH)).toEqual({ track: "2", depth: 1 });
    expect(laneAt(all, heightOf(placed) + 1)).toBeNull();
  });
  it("are in sight when a part of them is", () => {
    const placed = placeTracks(TRACKS, [], [], []);
    const top = placed[1]?.top ?? 0;
    expect(between(placed, 0, top).map(({ track: { id } }) => id)).toEqual(["0"]);
    expect(between(placed, top - 1, top + 1).map(({ track: { id } }) => id)).toEqual(["0", "1"]);
  });
  it("stay in sight where they are pinned, as many as leave room", () => {
    const placed = placeTracks(TRACKS, ["2"], [], []);
    const [pinned, first, last] = placed;
    const size = (pinned?.height ?? 0) * 2;
    const { staying, edge, rest } = inSight(placed, 30, size);
    expect([staying, edge]).toEqual([[pinned], pinned?.height]);
    expect(rest.map(({ track, top }) => [track.id, top])).toEqual([
      ["0", (first?.top ?? 0) - 30],
      ...((last?.top ?? 0) - 30 < size ? [["1", (last?.top ?? 0) - 30]] : []),
    ]);
    // What lies under a pinned track is not pointed at there.
    expect(laneAt({ staying, edge, rest }, edge - 10)?.track).toBe("2");
    expect(laneAt({ staying, edge, rest }, edge + 1)?.track).toBe("0");
    expect(inSight(placed, 30, (pinned?.height ?? 0) * 1.2).staying).toEqual([]);
  });
});

describe("items of a lane", () => {
  const lanes = lanesOf(NESTED);
  it("are found by track and depth, none where the answer has none", () => {
    expect([0, 1, 2, 3, 4].map((depth) => itemsIn(lanes, "7", depth))).toEqual([
      [0, 2],
      [2, 5],
      [5, 5],
      [5, 6],
      [6, 6],
    ]);
    expect(itemsIn(lanes, "8", 0)).toEqual([0, 0]);
    expect(firstAfter(lanes, 2, 5, 10)).toBe(3);
    expect(firstAfter(lanes, 2, 5, 99)).toBe(5);
  });
  it("are pointed at from as far as the hand is steady, the nearest first", () => {
    const at = (value: number, slack = 0) => itemAt(lanes, { track: "7", depth: 1 }, value, slack);
    expect([at(5), at(11), at(11.4, 1), at(10.4, 1), at(45, 5)]).toEqual([2, -1, 3, 2, -1]);
  });
  it("stand for the spans that are drawn in them", () => {
    const span = { track: "7", depth: 1, begin: 60 };
    expect(itemOf(lanes, span)).toBe(4);
    expect(itemOf(lanes, { ...span, begin: 61 })).toBe(4);
    expect(itemOf(lanes, { ...span, depth: 2 })).toBe(-1);
  });
});

describe("walking", () => {
  const span = (depth: number, begin: number, end: number) => ({
    id: "",
    name: "",
    kind: "op",
    track: "7",
    depth,
    begin,
    end,
    open: null,
    step: null,
  });
  const to = (depth: number, begin: number, end: number, way: Parameters<typeof stepped>[2]) =>
    stepped(NESTED, span(depth, begin, end), way)?.at ?? null;
  it("goes along a lane, out and in", () => {
    expect([to(1, 2, 10, "next"), to(1, 12, 30, "next"), to(1, 60, 70, "next")]).toEqual([
      3,
      4,
      null,
    ]);
    expect([to(1, 12, 30, "previous"), to(1, 2, 10, "previous")]).toEqual([2, null]);
    expect([to(1, 60, 70, "around"), to(0, 50, 90, "around")]).toEqual([1, null]);
    expect([to(0, 50, 90, "inside"), to(1, 60, 70, "inside")]).toEqual([4, null]);
  });
  it("begins with what is outermost in view", () => {
    expect(entry(NESTED, "7", { begin: 45, end: 60 })?.at).toBe(1);
    expect(entry(NESTED, "7", { begin: 95, end: 99 })).toBeNull();
    expect(entry(NESTED, undefined, { begin: 0, end: 9 })).toBeNull();
  });
});

it("names calls of Python by function and line", () => {
  expect(shortName("/usr/lib/torch/nn/modules/module.py(1501): _call_impl")).toBe(
    "_call_impl · module.py:1501",
  );
  expect(shortName("train.py(3): <module>")).toBe("<module> · train.py:3");
  expect(shortName("aten::mm")).toBe("aten::mm");
  expect(
    shortName("void at::(anonymous namespace)::fill<128, 8, F<int> >(int, F<int>::{lambda()#1})"),
  ).toBe("at::(anonymous namespace)::fill<…>");
  expect(shortName("void at::native::fill<128, 8, F<int> >(int, F<int>::{lambda()#1})")).toBe(
    "at::native::fill<…>",
  );
  expect(shortName("fusion.12 (loop)")).toBe("fusion.12 (loop)");
});
