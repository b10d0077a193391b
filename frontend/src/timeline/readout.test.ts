import { describe, expect, it } from "vitest";
import type { SpanCard, TrackItem } from "../api";
import { itemLines, itemWords, peakWords } from "./itemWords";
import {
  describeInstant,
  describe as describeWindow,
  exactTime,
  instantTitle,
  lengthWords,
  markTitle,
  readout,
  stepAt,
} from "./readout";
import { sampleUsage } from "./sample";

const GIB = 2 ** 30;
/** Thin and unbreakable spaces read as plain ones, so that expectations can be typed. */
const plain = (text: string | null) => text?.replace(/[\u202f\u00a0]/g, " ") ?? null;

const usage = sampleUsage(
  [
    { begin: 0, end: 1, values: [GIB, 2 * GIB, 5], reserved: 4 * GIB, time: 413_207_001 },
    { begin: 1, end: 2, values: [0, 0, 7], reserved: 4 * GIB, time: 413_300_000 },
  ],
  { groups: ["a", "b", "c"].map((key) => ({ key, label: `group ${key}` })) },
);

describe("the readout of an instant", () => {
  const words = readout(usage, 0, "requested", "step 3");
  it("says the event and the time to the nanosecond", () => {
    expect(plain(words.title)).toBe("event 0 · 0.413 207 001 s");
    expect(instantTitle(-1, null)).toBe("before the first event");
  });
  it("says since when what was carried in stands", () => {
    const carried = sampleUsage([{ begin: 8, end: 16, values: [1], event: 5 }]);
    expect(readout(carried, 0, "size", null).title).toBe("since event 5");
    const early = sampleUsage([{ begin: 0, end: 16, values: [1], event: -1 }]);
    expect(readout(early, 0, "size", null).title).toBe("before the first event");
  });
  it("has every number rounded and whole", () => {
    expect(
      words.rows.map(({ label, value, exact }) => [label, plain(value), plain(exact)]),
    ).toEqual([
      ["allocated (requested)", "3.00 GiB", "3 221 225 477 bytes"],
      ["reserved", "4.00 GiB", "4 294 967 296 bytes"],
      ["fragmentation", "25.0 %", "1 − allocated ÷ reserved"],
      ["step", "step 3", null],
    ]);
  });
  it("names the largest groups first", () => {
    expect(words.groups.map(({ label, value }) => [label, plain(value)])).toEqual([
      ["group b", "2.00 GiB"],
      ["group a", "1.00 GiB"],
      ["group c", "5 B"],
    ]);
    expect(words.more).toBeNull();
  });
  it("counts the groups it does not name", () => {
    const many = sampleUsage([{ begin: 0, end: 1, values: [1, 2, 3, 4, 5, 6, 7, 8, 0] }]);
    expect(plain(readout(many, 0, "size", null).more)).toBe("2 more, 3 B");
  });
  it("leaves out what is not known, and repeats no whole bytes", () => {
    const bare = sampleUsage([{ begin: 0, end: 1, values: [12] }]);
    expect(readout(bare, 0, "size", null).rows).toEqual([
      { label: "allocated (size)", value: "12\u00a0B", exact: null },
    ]);
  });
});

const item = (change: Partial<TrackItem>): TrackItem => ({
  id: "0",
  name: "step 0",
  begin: 10,
  end: 40,
  count: 1,
  begin_event: null,
  end_event: null,
  begin_time: null,
  end_time: null,
  open: null,
  ...change,
});

describe("spans in words", () => {
  it("say both ends and the length", () => {
    expect(itemLines(item({}), "event").map(plain)).toEqual(["event 10 → event 40", "30 events"]);
    const timed = item({ begin: 1e9, end: 1.5e9, begin_event: 3, end_event: 9 });
    expect(itemLines(timed, "time").map(plain)).toEqual([
      "1.000 s → 1.500 s",
      "500 ms",
      "events 3 to 9",
    ]);
  });
  it("say what was not seen, and give no length then", () => {
    expect(itemLines(item({ open: "begin" }), "event")).toEqual(["before the window → event 40"]);
    expect(itemLines(item({ open: "end" }), "event")).toEqual([
      "event 10 → not ended in the window",
    ]);
  });
  it("say that they are several", () => {
    expect(itemLines(item({ count: 12 }), "event").at(-1)).toContain("12 together");
  });
  it("are spoken with their peak once that is known", () => {
    const card = {
      before: { event: 9, time: null, allocated: GIB },
      after: { event: 39, time: null, allocated: 3 * GIB },
      peak: { event: 20, time: null, allocated: 4 * GIB },
    } as SpanCard;
    expect(plain(itemWords(item({}), "event", null))).toBe("step 0, 30 events");
    expect(plain(itemWords(item({}), "event", card))).toBe(
      "step 0, 30 events, peak 4.00 GiB, +2.00 GiB after it",
    );
    expect(peakWords({ ...card, after: card.before }).map(plain)).toEqual([
      "peak 4.00 GiB, as much after it as before",
    ]);
    expect(itemWords(item({ open: "end" }), "event", null)).toBe("step 0");
    expect(plain(itemWords(item({ count: 12 }), "event", null))).toBe(
      "12 together, the longest step 0, 30 events",
    );
  });
  it("the step of an instant is the one that holds it", () => {
    const steps = [item({}), item({ name: "step 1", begin: 40, end: 80 })];
    expect([9, 10, 40, 80].map((at) => stepAt(steps, at))).toEqual([
      null,
      "step 0",
      "step 1",
      null,
    ]);
  });
});

describe("the picture in words", () => {
  it("has the highest instant in view to the byte", () => {
    const text = plain(describeWindow(usage, { begin: 0, end: 2 }, "cuda:0"));
    expect(text).toContain("Memory of cuda:0 from event 0 to event 2. Highest: 3.00 GiB");
    expect(text).toContain("(3 221 225 477 bytes) at event 0");
    expect(text).toContain("Largest: group b 2.00 GiB, group a 1.00 GiB");
    expect(plain(describeWindow(usage, { begin: 1, end: 2 }, "cpu"))).toContain(
      "(7 bytes) at event 1",
    );
  });
  it("says when there is nothing", () => {
    expect(describeWindow(null, { begin: 0, end: 2 }, "cpu")).toBe("Memory of cpu: loading.");
    expect(describeWindow(sampleUsage([]), { begin: 0, end: 2 }, "cpu")).toContain("no event here");
  });
  it("says where the cursor is", () => {
    expect(plain(describeInstant(usage, 1))).toBe("Cursor at event 1 · 0.413 300 s: 7 B allocated");
  });
});

it("times, lengths and marks read well", () => {
  expect([0, 1e9, 1_500_000, -2e9].map((ns) => plain(exactTime(ns)))).toEqual([
    "0.000 s",
    "1.000 s",
    "0.001 500 s",
    "−2.000 s",
  ]);
  expect(lengthWords("event", 1.2)).toBe("1 event");
  expect(plain(lengthWords("time", 310e6))).toBe("310 ms");
  expect(markTitle({ kind: "out_of_memory", event: 1, time: null, text: null })).toBe(
    "Out of memory",
  );
  expect(markTitle({ kind: "user_defined", event: 1, time: null, text: null })).toBe(
    "user defined",
  );
});
