import { describe, expect, it } from "vitest";
import {
  brushedWindow,
  clampWindow,
  panWindow,
  roundWindow,
  span,
  toPixel,
  toValue,
  zoomWindow,
} from "./scale";

const whole = { begin: 0, end: 1000 };

describe("maps", () => {
  it("go there and back, also for ordinals near 2^52", () => {
    const window = { begin: 2 ** 51, end: 2 ** 51 + 800 };
    for (const pixel of [0, 1, 399.5, 800]) {
      expect(toPixel(window, 800, toValue(window, 800, pixel))).toBe(pixel);
    }
  });
});

describe("zooming", () => {
  it("keeps the value under the pointer where it was", () => {
    const zoomed = zoomWindow({ begin: 100, end: 500 }, whole, 200, 0.5);
    expect(toPixel(zoomed, 800, 200)).toBeCloseTo(toPixel({ begin: 100, end: 500 }, 800, 200));
    expect(span(zoomed)).toBe(200);
  });
  it("stops at the whole and at two units", () => {
    expect(zoomWindow({ begin: 100, end: 500 }, whole, 200, 100)).toEqual(whole);
    expect(span(zoomWindow({ begin: 100, end: 500 }, whole, 200, 1e-9))).toBe(2);
  });
  it("at an edge grows inwards only", () => {
    expect(zoomWindow({ begin: 0, end: 100 }, whole, 100, 2)).toEqual({ begin: 0, end: 200 });
    expect(zoomWindow({ begin: 900, end: 1000 }, whole, 950, 4)).toEqual({ begin: 600, end: 1000 });
  });
  it("of a recording shorter than two units shows it whole", () => {
    expect(zoomWindow({ begin: 0, end: 1 }, { begin: 0, end: 1 }, 0.5, 0.5)).toEqual({
      begin: 0,
      end: 1,
    });
  });
});

describe("panning", () => {
  it("keeps the width and stops at the ends", () => {
    expect(panWindow({ begin: 100, end: 300 }, whole, -500)).toEqual({ begin: 0, end: 200 });
    expect(panWindow({ begin: 100, end: 300 }, whole, 5000)).toEqual({ begin: 800, end: 1000 });
    expect(panWindow({ begin: 100, end: 300 }, whole, 50)).toEqual({ begin: 150, end: 350 });
  });
});

describe("brushing", () => {
  it("works in both directions", () => {
    expect(brushedWindow(700, 300, whole)).toEqual({ begin: 300, end: 700 });
  });
  it("of less than two units gives two around it", () => {
    expect(brushedWindow(500, 500.5, whole)).toEqual({ begin: 499.25, end: 501.25 });
  });
  it("past an end is cut", () => {
    expect(brushedWindow(999.5, 1000, whole)).toEqual({ begin: 998, end: 1000 });
  });
});

it("clamping moves a window in rather than cutting it", () => {
  expect(clampWindow({ begin: -50, end: 50 }, whole)).toEqual({ begin: 0, end: 100 });
});

it("rounding gives the whole units around", () => {
  expect(roundWindow({ begin: 10.12345, end: 20.98765 })).toEqual({ begin: 10, end: 21 });
  expect(roundWindow({ begin: 3, end: 5 })).toEqual({ begin: 3, end: 5 });
});
