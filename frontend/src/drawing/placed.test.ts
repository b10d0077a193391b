import { expect, it } from "vitest";
import { fill } from "./raster";
import { tileOf } from "./sample";
import { runAt, type View } from "./sheet";
import { NOTHING, thingOf } from "./things";
import type { Tile } from "./tile";

/** Strips of small lives: columns, pixel of the tile, pixels tall. */
const STRIPS = [
  { column: 0, last: 5, at: 1, tall: 3 },
  { column: 2, last: 3, at: 2, tall: 1 },
  { column: 4, last: 7, at: 6, tall: 2 },
];
const PIXEL = 4;

function tileOfStrips(): Tile {
  const wanted = { level: 0, index: 0, events: 8, pixel: PIXEL, layout: "address" } as const;
  const { length } = STRIPS;
  return {
    ...tileOf([], wanted),
    merged: {
      length,
      column: Uint16Array.from(STRIPS, ({ column }) => column),
      last: Uint16Array.from(STRIPS, ({ last }) => last),
      band: new Uint8Array(length),
      bytes: new Float64Array(length).fill(9),
      count: new Int32Array(length).fill(2),
      allocation: new Int32Array(length).fill(-1),
      hit: new Uint8Array(length).fill(1),
      offset: Float64Array.from(STRIPS, ({ at }) => at * PIXEL),
      tall: Uint16Array.from(STRIPS, ({ tall }) => tall),
    },
  };
}

it("draws strips in all of their columns, what is higher over what reaches up to it", () => {
  const view: View = { begin: 0, end: 8, low: 0, high: 10 * PIXEL, width: 8, height: 10 };
  const { sheet, numbers } = fill([tileOfStrips()], [{ tile: 0, begin: 0, end: 8 }], view);
  for (let x = 0; x < 8; x++) {
    for (let y = 0; y < 10; y++) {
      const expected = STRIPS.findLastIndex(
        ({ column, last, at, tall }) => column <= x && x <= last && at <= y && y < at + tall,
      );
      const id = sheet.ids[runAt(sheet, x, y)] as number;
      if (expected < 0) expect(id).toBe(NOTHING);
      else expect(thingOf(numbers, id)).toEqual({ tile: 0, kind: "merged", at: expected });
    }
  }
});
