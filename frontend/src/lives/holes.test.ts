import { describe, expect, it } from "vitest";
import type { FreeAnswer } from "../api";
import type { View } from "../drawing/sheet";
import type { Tile } from "../drawing/tile";
import { isIn, questionOf } from "../picture/holes";
import type { Pointed } from "../picture/pointing";
import { wordsFor } from "./readout";

const tile = (about: Partial<Tile["about"]> = {}): Tile =>
  ({
    about: { layout: "address", mapped_known: true, hidden: { ranges: 0 }, groups: [], ...about },
    columns: {
      event: Float64Array.of(7),
      time: Float64Array.of(Number.NaN),
      total: Float64Array.of(5),
      count: Float64Array.of(1),
    },
  }) as unknown as Tile;

const pointed = (bytes: number, isHeld = true, of = tile()): Pointed => ({
  tile: of,
  column: 0,
  spot: { at: 0, bytes },
  thing: null,
  isHeld,
  reach: { begin: 0, end: 4000 },
});

const VIEW: View = { begin: 0, end: 9, low: 1000, high: 4000, width: 9, height: 300 };
const segment = { address: "0x1000", size: 4096, free: 3000 };
const answer = (hole: FreeAnswer["hole"], other: Partial<FreeAnswer> = {}): FreeAnswer => ({
  event: 7,
  holes: 1,
  hole,
  block: null,
  ...other,
});
const said = (...given: Parameters<typeof wordsFor>) => {
  const { what, lines } = wordsFor(...given);
  return [what, ...lines].map((line) => line.replace(/[\u00a0\u202f]/g, " "));
};

describe("a place that is held", () => {
  it("is asked about by its pixel", () => {
    expect(questionOf(pointed(2005), VIEW)).toBe("7 2000 10");
    expect(questionOf(pointed(2005, false), VIEW)).toBeNull();
    const fine = { ...VIEW, high: 1001, height: 4 };
    expect(questionOf(pointed(1000.6), fine)).toBe("7 1000 1");
  });

  it("needs no other answer within one hole at one event", () => {
    const known = answer({ address: "0x1100", place: 2000, size: 100, segment });
    expect(isIn(known, "7 2000 100")).toBe(true);
    expect(isIn(known, "8 2000 100")).toBe(false);
    expect(isIn(known, "7 1999 10")).toBe(false);
    expect(isIn(known, "7 2095 10")).toBe(false);
    expect(isIn(answer(null), "7 2095 10")).toBe(false);
  });

  it("is a hole once the server has said so, to the byte", () => {
    expect(said(pointed(2005), null, null)[0]).toBe("mapped");
    const hole = { address: "0x1100", place: 2000, size: 1536, segment };
    expect(said(pointed(2005), null, answer(hole)).slice(0, 4)).toEqual([
      "mapped, but not allocated",
      "a hole of 1.50 KiB (1 536 bytes)",
      "from 0x1100, in a segment of 4.00 KiB from 0x1000",
      "2.93 KiB of the segment are free",
    ]);
    const several = said(pointed(2005), null, answer(hole, { holes: 3 }));
    expect(several[2]).toBe("one of 3 holes in this pixel; zoom in to tell them apart");
  });

  it("is a block that is not drawn where nothing is free", () => {
    const block = { address: "0x1100", place: 2000, size: 1536, segment };
    const free = answer(null, { block: { ...block, requested: 1500, allocation: "3" } });
    expect(said(pointed(2005), null, free).slice(0, 3)).toEqual([
      "allocated, but not drawn",
      "a block of 1.50 KiB (1 536 bytes)",
      "36 bytes of it rounding",
    ]);
  });

  it("is told from what is not mapped, or not known to be", () => {
    expect(said(pointed(5, false), null, null)[0]).toBe("not mapped");
    const unknown = pointed(5, false, tile({ mapped_known: false }));
    expect(said(unknown, null, null)[0]).toBe("nothing is known to be mapped here");
  });
});
