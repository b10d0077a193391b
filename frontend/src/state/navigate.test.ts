import { describe, expect, it } from "vitest";
import { panned, zoomed } from "./navigate";

const ALL = { begin: -1, end: 999 };

describe("zooming", () => {
  it("keeps what is at the anchor where it is", () => {
    const shown = { begin: 100, end: 300 };
    expect(zoomed(shown, ALL, 0.5, 150)).toEqual({ begin: 125, end: 225 });
  });

  it("shows everything again, as null", () => {
    expect(zoomed({ begin: 0, end: 800 }, ALL, 1.5)).toBeNull();
  });

  it("stays inside and never closes", () => {
    expect(zoomed({ begin: 900, end: 999 }, ALL, 2, 999)).toEqual({ begin: 801, end: 999 });
    expect(zoomed({ begin: 5, end: 6 }, ALL, 0.5)).toMatchObject({ end: expect.any(Number) });
    const closest = zoomed({ begin: 5, end: 6 }, ALL, 0.5);
    expect((closest?.end ?? 0) - (closest?.begin ?? 0)).toBe(1);
  });
});

describe("panning", () => {
  it("moves by a share of what is shown and stops at the ends", () => {
    expect(panned({ begin: 100, end: 200 }, ALL, 0.2)).toEqual({ begin: 120, end: 220 });
    expect(panned({ begin: 10, end: 110 }, ALL, -0.2)).toEqual({ begin: -1, end: 99 });
    expect(panned({ begin: 890, end: 990 }, ALL, 0.2)).toEqual({ begin: 899, end: 999 });
  });

  it("does not move what shows everything", () => {
    expect(panned(ALL, ALL, 0.2)).toBeNull();
  });
});
