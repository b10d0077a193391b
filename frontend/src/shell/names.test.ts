import { describe, expect, it } from "vitest";
import type { Source } from "../api";
import { type Entry, entriesOf } from "./entries";
import { atMost, byRun, factsLine, matching } from "./names";

const source = (run: string, name: string, over: Partial<Source> = {}): Source => ({
  id: `${run}/${name}`,
  run,
  name,
  format: "torch_snapshot",
  bytes: 2048,
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
const entries = (sources: Source[]): Entry[] => entriesOf({ sources, sessions: [] });
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

describe("the list of recordings", () => {
  it("goes by run, runs as people count, the newest source first", () => {
    const list = [
      source("run-10", "a"),
      source("run-2", "old", { modified_ns: 1 }),
      source("run-2", "new", { modified_ns: 2 }),
      source(".", "loose"),
    ];
    const shape = byRun(entries(list)).map((one) => [one.run, one.entries.map(({ name }) => name)]);
    expect(shape).toEqual([
      ["", ["loose"]],
      ["run-2", ["new", "old"]],
      ["run-10", ["a"]],
    ]);
  });

  it("finds by every word, in run, name and format", () => {
    const list = entries([source("llm/train", "a.pickle"), source("resnet", "b.pickle")]);
    expect(matching(list, "LLM snap").map(({ run }) => run)).toEqual(["llm/train"]);
    expect(matching(list, "llm b")).toEqual([]);
    expect(matching(list, "")).toHaveLength(2);
  });

  it("stays readable with thousands, and keeps the chosen one", () => {
    const list = entries(
      Array.from({ length: 1000 }, (_, at) => source(`run-${at}`, "a", { modified_ns: at })),
    );
    const { shown, hidden } = atMost(list, 200, "run-3/a");
    expect([shown.length, hidden]).toEqual([200, 800]);
    expect(shown.slice(0, 2).map(({ run }) => run)).toEqual(["run-3", "run-999"]);
    expect(atMost(list.slice(0, 2), 200, null).hidden).toBe(0);
  });

  it("says what is known of each", () => {
    const known = { peak_device: null, capacity: null };
    const brief = { events: 22_332, steps: 2, devices: 1, peak_bytes: 1, ...known };
    expect(plain(factsLine(source("r", "a", { brief })))).toBe(
      "snapshot · 22 332 events · 2 steps",
    );
    expect(plain(factsLine(source("r", "a")))).toBe("snapshot · 2.00 KiB");
    const none = { events: 0, steps: 0, devices: 2, peak_bytes: null, ...known };
    expect(plain(factsLine(source("r", "a", { brief: none })))).toBe(
      "snapshot · no history · 2 devices",
    );
    expect(factsLine(source("r", "a", { format: "some_thing", bytes: 1 }))).toMatch(/^some thing/);
  });
});
