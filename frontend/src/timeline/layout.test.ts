import { describe, expect, it } from "vitest";
import type { TrackItem } from "../api";
import { beside, besidePointer, clearOf, fitting, leftOf } from "./fitting";
import { binSize, covers, tileFor } from "./grid";
import { fragmentation, heightFor } from "./height";
import { boxAt, fitText, layOut, rowsOf } from "./lanes";
import { centred, dragged, gripAt } from "./minimap";
import { Recent } from "./recent";
import { span } from "./scale";

describe("tiles", () => {
  const whole = { begin: 0, end: 1_000_000 };
  it("lie on the grid, hold the window and give a bin a pixel or finer", () => {
    for (let size = 3; size < 1e6; size *= 1.9) {
      const window = { begin: 400_000 - size / 3, end: 400_000 + size / 3 };
      const tile = tileFor(window, whole, 700);
      expect(Math.log2(tile.bin) % 1).toBe(0);
      expect(span(window) / tile.bin >= 700 || tile.bin === 1).toBe(true);
      expect(tile.begin).toBeLessThanOrEqual(Math.max(0, window.begin));
      expect(tile.end).toBeGreaterThanOrEqual(Math.min(1e6, window.end));
      expect(covers(tile, window, whole, 700)).toBe(true);
    }
  });
  it("are the same for a small pan", () => {
    const first = tileFor({ begin: 300_000, end: 400_000 }, whole, 800);
    expect(covers(first, { begin: 305_000, end: 405_000 }, whole, 800)).toBe(true);
    expect(covers(first, { begin: 450_000, end: 550_000 }, whole, 800)).toBe(false);
    expect(covers(first, { begin: 340_000, end: 345_000 }, whole, 800)).toBe(false);
  });
  it("bins are never under one unit", () => {
    expect(binSize(10, 800)).toBe(1);
    expect(binSize(1600, 800)).toBe(2);
    expect(binSize(3199, 800)).toBe(2);
  });
});

describe("height", () => {
  it("reaches up to capacity only when that is near", () => {
    expect(heightFor(100, 110, 120)).toEqual({ top: 120 * 1.06, showsCapacity: true });
    expect(heightFor(100, 110, 800)).toEqual({ top: 110 * 1.06, showsCapacity: false });
    expect(heightFor(100, null, null)).toEqual({ top: 100 * 1.06, showsCapacity: false });
  });
  it("of nothing is a byte", () => {
    expect(heightFor(0, 0, null).top).toBe(1);
  });
  it("fragmentation is what reserved holds beyond allocated", () => {
    expect(fragmentation(75, 100)).toBe(0.25);
    expect(fragmentation(0, 0)).toBeNull();
    expect(fragmentation(5, null)).toBeNull();
    expect(fragmentation(5, 4)).toBeNull();
  });
});

const item = (name: string, begin: number, end: number, depth = 0): TrackItem => ({
  id: name,
  name,
  begin,
  end,
  depth,
  count: 1,
  begin_event: null,
  end_event: null,
  begin_time: null,
  end_time: null,
  open: null,
});

describe("lanes", () => {
  const window = { begin: 100, end: 200 };
  it("cut boxes to the plot and leave out what is elsewhere", () => {
    const boxes = layOut(
      [item("a", 50, 150), item("b", 150, 300, 1), item("c", 300, 400)],
      window,
      200,
    );
    expect(boxes.map(({ left, right, row }) => [left, right, row])).toEqual([
      [0, 100, 0],
      [100, 200, 1],
    ]);
  });
  it("leave a pixel of the thinnest, also at the right edge", () => {
    const boxes = layOut([item("a", 120, 120), item("b", 200, 200)], window, 200);
    expect(boxes.map(({ left, right }) => right - left)).toEqual([1, 1]);
    expect(boxes[1]?.right).toBeLessThanOrEqual(200);
  });
  it("are hit with slack, the narrower of two first", () => {
    const boxes = layOut([item("wide", 100, 200), item("thin", 150, 150)], window, 200);
    expect(boxAt(boxes, 0, 100)?.item.name).toBe("thin");
    expect(boxAt(boxes, 0, 20)?.item.name).toBe("wide");
    expect(boxAt(boxes, 1, 20)).toBeNull();
  });
  it("count their rows", () => {
    expect(rowsOf([])).toBe(0);
    expect(rowsOf([item("a", 0, 1), item("b", 0, 1, 6)])).toBe(7);
  });
  it("names are cut to fit or left out", () => {
    const measure = (text: string) => text.length * 6;
    expect(fitText("forward", 60, measure)).toBe("forward");
    expect(fitText("optimizer step", 60, measure)).toBe("optimizer…");
    expect(fitText("backward", 20, measure)).toBe("");
    expect(fitText("step 12", 42, measure)).toBe("step 12");
    expect(fitText("step 12", 30, measure)).toBe("12");
    expect(fitText("ProfilerStep#12", 11, measure)).toBe("");
  });
});

describe("minimap", () => {
  const whole = { begin: 0, end: 1000 };
  const window = { begin: 200, end: 400 };
  it("is held by its edges, its window or beside it", () => {
    expect(gripAt(whole, window, 500, 101)).toBe("begin");
    expect(gripAt(whole, window, 500, 198)).toBe("end");
    expect(gripAt(whole, window, 500, 150)).toBe("window");
    expect(gripAt(whole, window, 500, 300)).toBe("outside");
    expect(gripAt(whole, whole, 500, 250)).toBe("outside");
  });
  it("drags", () => {
    expect(dragged("window", window, whole, 500, 150, 200)).toEqual({ begin: 300, end: 500 });
    expect(dragged("window", window, whole, 500, 150, 900)).toEqual({ begin: 800, end: 1000 });
    expect(dragged("begin", window, whole, 500, 100, 50)).toEqual({ begin: 100, end: 400 });
    expect(dragged("begin", window, whole, 500, 100, 450)).toEqual({ begin: 398, end: 400 });
    expect(dragged("end", window, whole, 500, 200, 600)).toEqual({ begin: 200, end: 1000 });
    expect(dragged("outside", window, whole, 500, 400, 350)).toEqual({ begin: 700, end: 800 });
  });
  it("centres on a click", () => {
    expect(centred(window, whole, 500, 250)).toEqual({ begin: 400, end: 600 });
    expect(centred(window, whole, 500, 0)).toEqual({ begin: 0, end: 200 });
  });
});

it("recent keeps what was used last", () => {
  const recent = new Recent<number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.get("a");
  recent.set("c", 3);
  expect([recent.get("a"), recent.get("b"), recent.get("c")]).toEqual([1, undefined, 3]);
  expect(recent.find((value) => value < 3)).toBe(1);
});

describe("a legend", () => {
  it("shows everything that fits", () => {
    expect(fitting(["parameter", "gradient"], 400, 1)).toBe(2);
    expect(fitting([], 400, 1)).toBe(0);
  });
  it("keeps room to say how many more there are", () => {
    const labels = Array.from({ length: 40 }, (_, index) => `function ${index} at line ${index}`);
    const shown = fitting(labels, 800, 2);
    expect(shown).toBeGreaterThanOrEqual(6);
    expect(shown).toBeLessThan(12);
  });
  it("shows at least one, however long", () => {
    expect(fitting(["x".repeat(500), "y".repeat(500)], 100, 1)).toBe(1);
  });
});

describe("a label among lines", () => {
  it("stays where it is free", () => {
    expect(clearOf(100, [80, 120], 9)).toBe(100);
  });
  it("goes above the line it would touch, and above the next one too", () => {
    expect(clearOf(100, [104], 9)).toBe(95);
    expect(clearOf(100, [90, 96], 9)).toBe(81);
  });
  it("goes below its point where there is no room above, and stays in the plot", () => {
    const room = { top: 20, bottom: 105 };
    expect(beside(60, [40], 9, room)).toBe(50);
    expect(beside(30, [22], 9, room)).toBe(43);
    expect(beside(30, [22, 40], 9, room)).toBe(49);
    expect(beside(30, [22, 40, 52, 64, 76, 88, 100], 9, room)).toBe(20);
  });
});

it("words above the chart stand left of the marks they would touch", () => {
  expect(leftOf(700, [], 200)).toBe(700);
  expect(leftOf(700, [400, 480], 200)).toBe(700);
  expect(leftOf(700, [698, 690], 200)).toBe(680);
  expect(leftOf(700, [400, 505, 690], 200)).toBe(390);
  expect(leftOf(700, [50, 250, 450, 650], 200)).toBe(700);
});

it("a tip stands right of the pointer, else where there is more room, and is never cut off", () => {
  expect(besidePointer(100, 300, 800)).toBe(114);
  expect(besidePointer(600, 300, 800)).toBe(286);
  expect(besidePointer(190, 300, 400)).toBe(100);
  expect(besidePointer(210, 300, 400)).toBe(0);
});
