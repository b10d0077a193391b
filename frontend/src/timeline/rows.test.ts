import { describe, expect, it } from "vitest";
import {
  convertRange,
  highestRow,
  known,
  neighbourRow,
  placeOfEvent,
  placeOfRow,
  rowAt,
  rowAtOrAfter,
  rowOfEvent,
} from "./rows";
import { sampleUsage } from "./sample";

// Bins of ten, one missing between 20 and 30.
const usage = sampleUsage(
  [
    { begin: 0, end: 10, values: [5], event: 3, time: 3 },
    { begin: 10, end: 20, values: [9], event: 7, time: 12 },
    { begin: 30, end: 40, values: [9], event: 20, time: 31 },
  ],
  { axis: "time" },
);

describe("rows", () => {
  it("are found by place, in a gap the one before it", () => {
    expect([-1, 0, 9, 10, 25, 30, 99].map((value) => rowAt(usage, value))).toEqual([
      -1, 0, 0, 1, 1, 2, 2,
    ]);
    expect([-1, 10, 25, 40].map((value) => rowAtOrAfter(usage, value))).toEqual([0, 1, 2, 3]);
  });
  it("are found by event", () => {
    expect([3, 7, 8, 20, 21].map((event) => rowOfEvent(usage, event))).toEqual([0, 1, -1, 2, -1]);
  });
  it("the highest is the earliest of equals with its instant in the window", () => {
    expect(highestRow(usage, 0, 40)).toBe(1);
    expect(highestRow(usage, 13, 40)).toBe(2);
    expect(highestRow(usage, 21, 29)).toBe(-1);
  });
  it("the highest may be a single event that began before the window", () => {
    const events = sampleUsage([
      { begin: 4, end: 5, values: [9] },
      { begin: 5, end: 6, values: [3] },
    ]);
    expect(highestRow(events, 4.5, 6)).toBe(0);
    expect(highestRow(events, 5, 6)).toBe(1);
  });
  it("stand where their bin begins if they were carried into it", () => {
    const carried = sampleUsage(
      [
        { begin: 0, end: 10, values: [9], event: 0, time: 4 },
        { begin: 10, end: 20, values: [9], event: 0, time: 4 },
      ],
      { axis: "time" },
    );
    expect([0, 1].map((row) => placeOfRow(carried, row))).toEqual([4, 10]);
    expect(highestRow(carried, 8, 20)).toBe(1);
    expect(neighbourRow(carried, 0, 1)).toBe(-1);
  });
  it("have neighbours from any event", () => {
    expect(neighbourRow(usage, 7, 1)).toBe(2);
    expect(neighbourRow(usage, 7, -1)).toBe(0);
    expect(neighbourRow(usage, 8, -1)).toBe(1);
    expect(neighbourRow(usage, 8, 1)).toBe(2);
    expect(neighbourRow(usage, 20, 1)).toBe(-1);
    expect(neighbourRow(usage, 3, -1)).toBe(-1);
  });
});

describe("the place of an event", () => {
  it("in time is exact where a row shows it, between its neighbours otherwise", () => {
    expect(placeOfEvent(usage, 7)).toBe(12);
    expect(placeOfEvent(usage, 9)).toBe(21.5);
    expect(placeOfEvent(usage, 2)).toBeNull();
    expect(placeOfEvent(usage, 30)).toBeNull();
  });
  it("by events is itself", () => {
    expect(placeOfEvent(sampleUsage([]), 5)).toBe(5);
  });
});

it("what is not a number is not known", () => {
  expect([known(0), known(Number.NaN), known(undefined)]).toEqual([0, null, null]);
});

describe("a range carried to the other axis", () => {
  it("goes from the first instant in it to the last", () => {
    expect(convertRange(usage, { begin: 4, end: 40 })).toEqual({ begin: 7, end: 21 });
    expect(convertRange(usage, { begin: 13, end: 30 })).toBeNull();
  });
  it("needs time stamps", () => {
    const events = sampleUsage([{ begin: 0, end: 1, values: [1] }]);
    expect(convertRange(events, { begin: 0, end: 1 })).toBeNull();
  });
});
