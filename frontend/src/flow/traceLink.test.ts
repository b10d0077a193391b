import { beforeEach, describe, expect, it } from "vitest";
import {
  area,
  bookmarks,
  chosenSteps,
  FIRST_PANELS,
  foldedTracks,
  hiddenTracks,
  type Panel,
  panels,
  pinnedTracks,
  spanColour,
} from "../state/trace";
import { fromWords, readHash, writeHash } from "./link";
import {
  applyTraceWords,
  bookmarksOf,
  bookmarksText,
  panelsOf,
  panelsText,
  traceWords,
} from "./traceLink";

beforeEach(() => applyTraceWords({}));

describe("panels in a link", () => {
  const ARRANGED: readonly Panel[] = [
    { key: "device", isFolded: false, height: 220 },
    { key: "usage", isFolded: true, height: null },
    { key: "host", isFolded: true, height: 90 },
    { key: "steps", isFolded: false, height: null },
    { key: "allocations", isFolded: false, height: null },
  ];
  it("say nothing as they start, else all there is to say", () => {
    expect(panelsText(FIRST_PANELS)).toBeUndefined();
    expect(panelsText(ARRANGED)).toBe("device220.usage-.host-90.steps.allocations");
    expect(panelsOf(panelsText(ARRANGED))).toEqual(ARRANGED);
  });
  it("stand as they come where a link says nothing of them, or nonsense", () => {
    expect(panelsOf(undefined)).toEqual(FIRST_PANELS);
    expect(panelsOf("nothing.host.host-.device12345")).toEqual([
      { key: "host", isFolded: false, height: null },
      ...FIRST_PANELS.filter(({ key }) => key !== "host"),
    ]);
  });
});

describe("bookmarks in a link", () => {
  it("keep names of any kind", () => {
    const all = ["one", "a~b..c", "50 % & more = é", "%", ""].map((name, at) => ({
      name,
      begin: 7 - at,
      end: 10 ** 12 + at,
    }));
    expect(bookmarksOf(bookmarksText(all))).toEqual(all);
    const hash = writeHash("", { run: "r", source: "s", marks: bookmarksText(all) });
    expect(bookmarksOf(readHash(hash).marks)).toEqual(all);
  });
  it("are left out where they are none", () => {
    expect(bookmarksOf("5..5..empty~x..2..y~7..6..turned~1..2..good")).toEqual([
      { begin: 1, end: 2, name: "good" },
    ]);
    expect(bookmarksOf(undefined)).toEqual([]);
  });
});

describe("the view in a link", () => {
  it("comes back as it was", () => {
    const words = {
      tracks: "p3.p1.h7.f0",
      colours: "net",
      spans: "aten::mm",
      lower: "steps",
      sums: "module.-self_net",
      steps: "12.40",
      area: "-5..700..3.1",
    } as const;
    applyTraceWords(words);
    expect(pinnedTracks.value).toEqual(["3", "1"]);
    expect([hiddenTracks.value, foldedTracks.value]).toEqual([["7"], ["0"]]);
    expect(traceWords()).toEqual(words);
    expect(readHash(writeHash("", words))).toEqual(words);
    expect(chosenSteps.value).toEqual(["12", "40"]);
    expect(area.value).toEqual({ begin: -5, end: 700, tracks: ["3", "1"] });
    applyTraceWords(
      fromWords({ tracks: "pnot.h.q1", colours: "other", sums: "Op", steps: "x", area: "7..7..1" }),
    );
    expect(traceWords()).toEqual({});
    expect([spanColour.value, bookmarks.value, panels.value]).toEqual(["kind", [], FIRST_PANELS]);
  });
  it("tells no steps from those of the beginning", () => {
    chosenSteps.value = [];
    expect(traceWords()).toEqual({ steps: "none" });
    applyTraceWords({ steps: "none" });
    expect(chosenSteps.value).toEqual([]);
  });
});
