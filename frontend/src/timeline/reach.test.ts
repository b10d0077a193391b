import { signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { around, createReach } from "./reach";
import { type Range, span } from "./scale";

const WHOLE: Range = { begin: 0, end: 1000 };
const PLOT = { left: 0, top: 0, width: 400, height: 100, columns: 400 };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function looking(window: Range) {
  const [shown, whole, plot] = [signal(window), signal(WHOLE), signal(PLOT)];
  return { ...createReach({ window: shown, whole, plot }), window: shown, plot };
}

const moved = ({ begin, end }: Range, by: number): Range => ({ begin: begin + by, end: end + by });

describe("what is drawn around a window", () => {
  it("is a margin of whole pixels to each side, as far as there is anything", () => {
    expect(around({ begin: 400, end: 600 }, WHOLE, PLOT)).toEqual({
      begin: 375,
      end: 625,
      times: 1.25,
    });
    const { begin, end } = around({ begin: 10.2, end: 210.2 }, WHOLE, PLOT);
    expect(begin).toBeCloseTo(0.2, 9); // 20 pixels of half a unit: 0.2 is less than one
    expect(end).toBeCloseTo(235.2, 9);
    expect(around(WHOLE, WHOLE, PLOT)).toEqual({ ...WHOLE, times: 1 });
  });
});

describe("a pan", () => {
  it("keeps what is drawn until the window leaves it", () => {
    const { reach, window, dispose } = looking({ begin: 400, end: 600 });
    const first = reach.value;
    for (const by of [1, 7.3, 24.9, -25]) {
      window.value = moved({ begin: 400, end: 600 }, by);
      expect(reach.value).toBe(first);
    }
    window.value = moved({ begin: 400, end: 600 }, 25.5);
    expect(reach.value).not.toBe(first);
    expect(reach.value.begin).toBeCloseTo(400.5, 9);
    dispose();
  });

  it("is drawn anew, with margins, once it rests, and told only then", () => {
    const { reach, still, window, dispose } = looking({ begin: 400, end: 600 });
    expect(reach.value.begin).toBe(375);
    window.value = { begin: 410, end: 610 };
    vi.advanceTimersByTime(100);
    window.value = { begin: 420, end: 620 };
    vi.advanceTimersByTime(100);
    expect([reach.value.begin, still.value.begin]).toEqual([375, 400]);
    vi.advanceTimersByTime(100);
    expect([reach.value.begin, still.value.begin]).toEqual([395, 420]);
    dispose();
  });
});

it("is drawn anew with every zoom, and where the plot changes", () => {
  const { reach, window, plot, dispose } = looking({ begin: 400, end: 600 });
  window.value = { begin: 410, end: 590 };
  expect(span(reach.value) / reach.value.times).toBeCloseTo(180, 9);
  const zoomed = reach.value;
  plot.value = { ...PLOT, width: 300, columns: 300 };
  expect(reach.value).not.toBe(zoomed);
  dispose();
});

it("stays the same object while everything is in view", () => {
  const { reach, window, dispose } = looking(WHOLE);
  const first = reach.value;
  window.value = { ...WHOLE };
  vi.advanceTimersByTime(1000);
  expect(reach.value).toBe(first);
  dispose();
});
