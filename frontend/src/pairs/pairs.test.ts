import { describe, expect, it } from "vitest";
import type { Match, Source } from "../api";
import { readHash, writeHash } from "../flow/link";
import { namesOf, pairId, pairNamed } from "../flow/pairLink";
import { clockWords, matchWords, pairNotes, shiftOf, shiftParts, UNITS } from "./words";

const MATCH: Match = {
  snapshot: "snapshot.pickle",
  trace: "trace.json",
  trace_format: "kineto_trace",
  matched: 1234,
  snapshot_share: 0.9999,
  trace_share: 1,
  offset_ns: -2_500_000,
  drift_ppm: 0,
  residual_ns: { median: 12, p95: 400 },
  certain: true,
};
const plain = (text: string): string => text.replaceAll("\u00a0", " ").replaceAll("\u202f", " ");

describe("words for a match", () => {
  it("never round a share up to all", () => {
    expect(plain(matchWords(MATCH))).toMatch(/100 % of the trace's and 99.9 % of the snapshot's/);
  });
  it("tell which clock is ahead, and which runs fast", () => {
    expect(plain(clockWords(MATCH))).toBe(
      "The snapshot's clock is 2.50 ms behind; what is left is 12.0 ns (median), 95 % are within 400 ns",
    );
    const other = { ...MATCH, offset_ns: 1e9, drift_ppm: -3.456 };
    expect(plain(clockWords(other))).toMatch(/1.00 s ahead, and runs 3.46 ppm slow/);
    expect(clockWords({ ...MATCH, offset_ns: 0 })).toMatch(/^The clocks agree;/);
  });
  it("say what was taken over and left out", () => {
    const left_out = [{ device: "cuda:1", events: 3, whole: true }];
    expect(pairNotes({ labels: 1, doubles: 2, stacks: true, left_out }).map(plain)).toEqual([
      "1 label of the trace taken over",
      "2 spans that both have shown once",
      "stacks are the trace's",
      "3 events of cuda:1 in the trace left out",
    ]);
    expect(pairNotes({})).toEqual([]);
  });
});

describe("a shift", () => {
  it("comes back as it was typed", () => {
    for (const ns of [0, 1, -1, 999, 2_500_000, -1_000_000_000, 1_234_567_891]) {
      const { value, unit } = shiftParts(ns);
      expect(shiftOf(value, unit)).toBe(ns);
    }
    expect(shiftParts(2_500_000)).toEqual({ value: "2.5", unit: "ms" });
    expect(shiftOf("2,5", "µs")).toBe(2500);
    expect(shiftOf("−3", "s")).toBe(-3 * UNITS.s);
  });
  it("is a number", () => {
    for (const text of ["", "  ", "soon", "1e40", "Infinity"])
      expect(shiftOf(text, "s")).toBeNull();
  });
});

describe("a pair in a link", () => {
  const [a, b] = ["a".repeat(16), "b".repeat(16)];
  const source = (id: string, more: Partial<Source>) => ({ id, run: "r", ...more }) as Source;
  const sources = [
    source("c".repeat(16), { run: "other", name: "t" }),
    source(a, { name: "s" }),
    source(b, { name: "t" }),
  ];
  it("goes by both names, whatever their ids are", () => {
    const pair = { snapshot: a, trace: b, shift_ns: -2 };
    const shown = source(pairId(a, b, -2), { name: "s + t", pair });
    const names = namesOf(shown, [...sources, shown]);
    expect(names).toEqual({ source: "s", with: "t", shift: -2 });
    expect(pairNamed(sources[1] as Source, names, [...sources, shown])).toBe(shown.id);
    expect(pairNamed(sources[1] as Source, { with: "gone" }, sources)).toBeNull();
    // Of another run only where the link says so: one of the same name may be of anything.
    const [other, snapshot] = sources as [Source, Source];
    expect(pairNamed(snapshot, { with: "t" }, [other, snapshot])).toBeNull();
    const far = { ...shown, pair: { ...pair, trace: other.id } };
    const named = namesOf(far, [other, snapshot, far]);
    expect(named).toEqual({ source: "s", with: "t", withRun: "other", shift: -2 });
    expect(readHash(writeHash("", named))).toEqual(named);
    expect(pairNamed(snapshot, named, [other, snapshot])).toBe(pairId(a, other.id, -2));
  });
  it("has its shift in 64 bits", () => {
    expect(pairId(a, b, null)).toBe(a + b);
    expect(pairId(a, b, 0)).toBe(`${a}${b}${"0".repeat(16)}`);
    expect(pairId(a, b, -2)).toBe(`${a}${b}${"f".repeat(15)}e`);
  });
});
