import { describe, expect, it } from "vitest";
import type { Device, Mark } from "../api";
import { sampleUsage } from "./sample";
import { placeOfPeak, pointedAt, sceneFor, sheetsFor } from "./scene";

const device = {
  peak_event: 5,
  peak_time: 500,
  begin_time: 100,
  allocated_peak: 90,
  capacity: 120,
} as Device;

/** Ten events of ten bytes each more than the last, but ninety at event 5. */
const detail = sampleUsage(
  Array.from({ length: 10 }, (_, at) => ({
    begin: at,
    end: at + 1,
    values: [at === 5 ? 90 : at * 10],
    reserved: 100,
  })),
);
const window = { begin: 0, end: 10 };
const plot = { left: 0, top: 0, width: 100, height: 50, columns: 200 };
const shown = { reserved: true, capacity: true };
const marks: Mark[] = [
  { kind: "snapshot", event: 2, time: 10, text: null },
  { kind: "out_of_memory", event: 40, time: null, text: null },
];

function scene(range = window, of = device, whole = detail) {
  const sheets = sheetsFor(detail, whole, range, plot.columns);
  return sceneFor("event", range, plot, sheets, of, marks, shown);
}

describe("a scene", () => {
  it("points at the row under a pixel, and at the last at the edge", () => {
    expect([0, 55, 99.9, 100, 300].map((x) => pointedAt(scene(), x)?.row)).toEqual([0, 5, 9, 9, 9]);
  });
  it("reaches as high as what is in view and shown", () => {
    expect(scene().height.showsCapacity).toBe(true);
    expect(scene().height.top).toBeCloseTo(120 * 1.06);
    expect(scene(window, { ...device, capacity: 1000 }).height.top).toBeCloseTo(100 * 1.06);
  });
  it("has a dot on the peak, or on the highest in view", () => {
    expect(scene().dot).toEqual({ x: 50, bytes: 90, isPeak: true });
    expect(scene({ begin: 6, end: 10 }).dot).toEqual({ x: 75, bytes: 90, isPeak: false });
  });
  it("places marks that are in view", () => {
    expect(scene().marks.map(({ x }) => x)).toEqual([20]);
  });
  it("is empty without answers", () => {
    const empty = sceneFor("event", window, plot, [], { ...device, peak_event: 50 }, [], shown);
    expect(empty.dot).toBeNull();
    expect(sceneFor("event", window, plot, [], device, [], shown).dot).toBeNull();
    expect(pointedAt(empty, 10)).toBeNull();
  });
});

it("what the detail does not reach is filled from the whole", () => {
  const whole = sampleUsage([{ begin: 0, end: 32, values: [7] }]);
  const [under, over] = sheetsFor(detail, whole, { begin: 0, end: 20 }, 20);
  expect([...(over?.rows ?? [])].slice(8, 12)).toEqual([8, 9, -1, -1]);
  expect([...(under?.rows ?? [])].slice(8, 12)).toEqual([-1, -1, 0, 0]);
  expect(sheetsFor(detail, whole, window, 10)).toHaveLength(1);
  expect(sheetsFor(null, null, window, 10)).toEqual([]);
});

it("a peak from before the first event stands at the beginning", () => {
  const early = { ...device, peak_event: -1, peak_time: null };
  expect(placeOfPeak(early, "event")).toBe(0);
  expect(placeOfPeak(early, "time")).toBe(100);
  expect(placeOfPeak(device, "time")).toBe(500);
});
