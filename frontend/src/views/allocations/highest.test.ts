import { expect, it } from "vitest";
import type { Tile } from "../../drawing/tile";
import { highestOf } from "./highest";

const tileOf = (...total: number[]) =>
  ({ columns: { length: total.length, total: Float64Array.from(total) } }) as unknown as Tile;
const shown = (...columns: (readonly [number, number])[]) => ({
  tile: Int32Array.from(columns, ([tile]) => tile),
  column: Int32Array.from(columns, ([, column]) => column),
});

it("is the first highest column of those shown", () => {
  const tiles = [tileOf(3, 9, 8), tileOf(8, 9)];
  const found = highestOf({ tiles, chosen: shown([-1, -1], [0, 0], [0, 2], [1, 0]) });
  expect(found).toEqual({ tile: tiles[0], column: 2, total: 8 });
});

it("is nowhere where nothing is known", () => {
  expect(highestOf({ tiles: [tileOf(1)], chosen: shown([-1, -1]) })).toBeNull();
});
