import { describe, expect, it } from "vitest";
import type { TrackItem } from "../api";
import { entry, sameItem, stepped, windowShowing } from "./stepping";

const item = (id: string, begin: number, end: number, depth?: number): TrackItem => ({
  id,
  name: id,
  begin,
  end,
  count: 1,
  begin_event: null,
  end_event: null,
  begin_time: null,
  end_time: null,
  open: null,
  ...(depth === undefined ? {} : { depth }),
});

const STEPS = [item("a", 0, 10), item("b", 10, 30), item("c", 40, 50)];
const NESTED = [
  item("out", 0, 100, 0),
  item("in", 10, 40, 1),
  item("deep", 20, 30, 2),
  item("in too", 50, 90, 1),
  item("after", 120, 130, 0),
];
const WHOLE = { begin: 0, end: 200 };

describe("keys along a track", () => {
  it("begin where the cursor is, else at the first in view", () => {
    expect(entry(STEPS, { begin: 0, end: 60 }, 12)?.id).toBe("b");
    expect(entry(STEPS, { begin: 0, end: 60 }, 35)?.id).toBe("a");
    expect(entry(STEPS, { begin: 35, end: 60 }, 12)?.id).toBe("c");
    expect(entry(STEPS, { begin: 31, end: 39 }, null)).toBeNull();
    expect(entry([], { begin: 0, end: 60 }, 1)).toBeNull();
  });

  it("begin with the outermost that is in view", () => {
    expect(entry(NESTED, WHOLE, 25)?.id).toBe("out");
    expect(entry(NESTED.slice(1), { begin: 15, end: 60 }, 25)?.id).toBe("in");
  });

  it("go on at one depth, and stop at the ends", () => {
    expect(stepped(STEPS, item("a", 0, 10), "next")?.id).toBe("b");
    expect(stepped(STEPS, item("c", 40, 50), "next")).toBeNull();
    expect(stepped(STEPS, item("a", 0, 10), "previous")).toBeNull();
    expect(stepped(NESTED, item("in", 10, 40, 1), "next")?.id).toBe("in too");
    expect(stepped(NESTED, item("in too", 50, 90, 1), "first")?.id).toBe("in");
    expect(stepped(NESTED, item("out", 0, 100, 0), "last")?.id).toBe("after");
  });

  it("go on from what another answer has made part of something else", () => {
    expect(sameItem(STEPS, item("b", 9, 31))?.end).toBe(30);
    expect(sameItem(STEPS, item("gone", 9, 31))).toBeNull();
    expect(stepped(STEPS, item("gone", 9, 31), "next")?.id).toBe("b");
    expect(stepped(STEPS, item("gone", 9, 31), "previous")?.id).toBe("a");
  });

  it("go into what is nested and out again", () => {
    expect(stepped(NESTED, item("out", 0, 100, 0), "inside")?.id).toBe("in");
    expect(stepped(NESTED, item("in", 10, 40, 1), "inside")?.id).toBe("deep");
    expect(stepped(NESTED, item("deep", 20, 30, 2), "around")?.id).toBe("in");
    expect(stepped(NESTED, item("out", 0, 100, 0), "around")).toBeNull();
    expect(stepped(NESTED, item("after", 120, 130, 0), "inside")).toBeNull();
  });
});

describe("the window", () => {
  it("stays where an item is in it, and keeps its width where it moves", () => {
    const window = { begin: 0, end: 40 };
    expect(windowShowing(item("x", 10, 40), window, WHOLE)).toBe(window);
    expect(windowShowing(item("x", 100, 110), window, WHOLE)).toEqual({ begin: 85, end: 125 });
    expect(windowShowing(item("x", 190, 200), window, WHOLE)).toEqual({ begin: 160, end: 200 });
  });

  it("shows where a wider item begins", () => {
    const shown = windowShowing(item("x", 60, 160), { begin: 0, end: 40 }, WHOLE);
    expect(shown).toEqual({ begin: 56, end: 96 });
  });
});
