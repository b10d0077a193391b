import { expect, it } from "vitest";
import type { Summary } from "../../api";
import { pairs, sections } from "./facts";

const SUMMARY = {
  format: "torch_snapshot",
  basis: "requested",
  run: "train",
  name: "a.pickle",
  live: false,
  time_origin_ns: 1_700_000_000_000_000_000,
  devices: [
    { name: "cuda:0", capacity: 2 ** 30, events: 12 },
    { name: "cuda:1", capacity: null, events: 1 },
  ],
  meta: {
    clock: "unix",
    source: "a.pickle",
    host: "box",
    rank: 0,
    pid: null,
    versions: {},
    has_history: true,
    allocator_settings: { expandable_segments: true, roundup: { "256": 1, "512": 2 }, extra: [] },
  },
} as unknown as Summary;

const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

it("says what is known, and of what is not that it is not", () => {
  const [recording, versions, settings, rest] = sections(SUMMARY);
  const said = recording?.rows.map(({ word, value }) => `${word}: ${plain(value)}`) ?? [];
  expect(said).toContain("rank: 0");
  expect(said).toContain("cuda:0: 1.00 GiB of memory, 12 events");
  expect(said).toContain("cuda:1: capacity not recorded, 1 event");
  expect(said.some((line) => /^(process|source|being)/.test(line))).toBe(false);
  expect(versions).toMatchObject({ rows: [], nothing: expect.stringContaining("versions") });
  expect(settings?.rows[0]).toEqual({ word: "expandable_segments", value: "yes" });
  expect(rest?.rows).toEqual([{ word: "has history", value: "yes" }]);
});

it("says in words what numbers of the allocator mean", () => {
  const said = (settings: object): string[] => {
    const meta = { ...SUMMARY.meta, allocator_settings: settings };
    const [, , found] = sections({ ...SUMMARY, meta });
    return found?.rows.map(({ value }) => plain(value)) ?? [];
  };
  const roundup_power2_divisions = { "1": 0, "256": 1, "512": 2 };
  const none = { max_split_size: -1, garbage_collection_threshold: 0 };
  const some = { max_split_size: 2 ** 25, garbage_collection_threshold: 0.8 };
  expect(said({ ...none, roundup_power2_divisions: { "1": 0, "2": 0 } })).toEqual([
    "unlimited",
    "off",
    "none",
  ]);
  expect(said({ ...some, roundup_power2_divisions })).toEqual([
    "32.00 MiB",
    "from 80 % of the limit on",
    "256.0 MiB: 1, 512.0 MiB: 2",
  ]);
  expect(said({ max_split_size: "large" })).toEqual(["large"]);
});

it("writes what is nested in one line", () => {
  expect(pairs({ a: { "256": 1, b: [1, 2] } })).toEqual([
    { word: "a", value: '"256": 1, "b": [ 1, 2 ]' },
  ]);
  expect(pairs(null)).toEqual([]);
  expect(pairs("text")).toEqual([]);
});
