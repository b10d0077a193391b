import { afterEach, describe, expect, it } from "vitest";
import type { Device, Source, Summary } from "../api";
import { openStatus, sourceId, summary } from "../state/recording";
import { axis, by, cursor, deviceKey, filter, range, selection } from "../state/view";
import {
  applySummary,
  chooseDevice,
  chooseGrouping,
  chooseSource,
  firstChoice,
  linked,
  pending,
} from "./choose";

const source = (name: string, over: Partial<Source> = {}): Source => ({
  id: `id-${name}`,
  run: "run",
  name,
  format: "torch_snapshot",
  bytes: 1000,
  modified_ns: 0,
  state: "new",
  error: null,
  live: false,
  uploaded: false,
  session: null,
  host: null,
  rank: null,
  brief: null,
  ...over,
});

const device = (key: string, over: Partial<Device> = {}): Device =>
  ({ key, name: key, events: 10, default_grouping: "stack", allocated_peak: 1, ...over }) as Device;

const recording = (over: Partial<Summary> = {}): Summary =>
  ({
    version: "1",
    plans: [],
    axes: ["time", "event"],
    groupings: [
      { key: "category", label: "category" },
      { key: "op", label: "op" },
      { key: "stack", label: "stack" },
    ],
    devices: [device("0"), device("1", { allocated_peak: 5 })],
    ...over,
  }) as Summary;

afterEach(() => {
  chooseSource("none");
  sourceId.value = null;
  openStatus.value = null;
  axis.value = "time";
});

describe("the first choice", () => {
  it("is the newest that is read already", () => {
    const list = [
      source("a", { state: "ready", modified_ns: 1 }),
      source("b", { state: "ready", modified_ns: 2 }),
      source("c", { modified_ns: 3 }),
    ];
    expect(firstChoice(list)?.name).toBe("b");
  });

  it("else is the newest that reads quickly, and never one that failed", () => {
    const huge = source("huge", { bytes: 4e9, modified_ns: 9 });
    const broken = source("broken", { state: "error", modified_ns: 8 });
    expect(firstChoice([huge, broken, source("small")])?.name).toBe("small");
    expect(firstChoice([huge, broken])).toBeNull();
  });

  it("is found by run and name when a link asks", () => {
    const list = [source("a"), source("a", { run: "other", id: "second" })];
    expect(linked(list, { run: "other", source: "a" })).toBe("second");
    expect(linked(list, { run: "gone", source: "a" })).toBeNull();
    expect(linked(list, { run: "other" })).toBe("second");
    expect(linked(list, { run: "gone" })).toBeNull();
  });
});

describe("a summary", () => {
  it("starts with the fullest device and its grouping", () => {
    chooseSource("x");
    applySummary(recording());
    expect([deviceKey.value, by.value]).toEqual(["1", "stack"]);
  });

  it("brings the place of the link that was waiting for it", () => {
    chooseSource("x");
    pending.value = {
      source: "a",
      device: "0",
      axis: "event",
      window: { begin: 2, end: 5 },
      at: 3,
      by: "op",
      filter: "f",
      selection: { kind: "allocation", id: "7" },
    };
    applySummary(recording());
    expect(deviceKey.value).toBe("0");
    expect([axis.value, by.value, cursor.value, filter.value]).toEqual(["event", "op", 3, "f"]);
    expect(range.value).toEqual({ begin: 2, end: 5 });
    expect(selection.value).toEqual({ kind: "allocation", id: "7" });
    expect(pending.value).toBeNull();
  });

  it("drops of a link what the recording does not have", () => {
    chooseSource("x");
    pending.value = {
      source: "a",
      device: "9",
      axis: "time",
      window: { begin: 2, end: 5 },
      by: "?",
    };
    applySummary(recording({ axes: ["event"] }));
    expect([deviceKey.value, axis.value, by.value]).toEqual(["1", "event", "stack"]);
    expect(range.value).toBeNull();
  });

  it("of a newer version leaves the place alone", () => {
    chooseSource("x");
    applySummary(recording());
    cursor.value = 4;
    by.value = "op";
    range.value = { begin: 1, end: 8 };
    applySummary(recording({ version: "2" }));
    expect([cursor.value, by.value, summary.value?.version]).toEqual([4, "op", "2"]);
    expect(range.value).toEqual({ begin: 1, end: 8 });
  });
});

describe("another grouping", () => {
  it("lets go of a group, which it does not have, and keeps an allocation", () => {
    chooseGrouping("op");
    selection.value = { kind: "group", by: "op", key: "k" };
    chooseGrouping("stack");
    expect(selection.value).toBeNull();
    selection.value = { kind: "allocation", id: "7" };
    chooseGrouping("op");
    expect(selection.value).toEqual({ kind: "allocation", id: "7" });
  });
});

describe("another device", () => {
  it("keeps a range of time, which all devices share", () => {
    chooseSource("x");
    applySummary(recording());
    range.value = { begin: 1, end: 8 };
    cursor.value = 4;
    chooseDevice("0");
    expect(range.value).toEqual({ begin: 1, end: 8 });
    expect(cursor.value).toBeNull();
  });

  it("gives up a range of events, which are counted per device", () => {
    chooseSource("x");
    axis.value = "event";
    applySummary(recording());
    range.value = { begin: 1, end: 8 };
    chooseDevice("0");
    expect(range.value).toBeNull();
  });
});
