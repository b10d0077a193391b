import { expect, it } from "vitest";
import type { Tile } from "../drawing/tile";
import { highestOf } from "./highest";

const tileOf = (...total: number[]) =>
  ({ columns: { length: total.length, total: Float64Array.from(total) } }) as unknown as Tile;
const shown = (...columns: (readonly [number, number])[]) => ({
  tile: Int32Array.from(columns, ([tile]) => tile),
  column: Int32Array.from(columns, ([, column]) => column),
});

const WHOLE = { begin: 0, end: 40 };
const viewOf = (width: number) => ({ ...WHOLE, low: 0, high: 9, width, height: 9 });

it("is the first highest column of those shown", () => {
  const tiles = [tileOf(3, 9, 8), tileOf(8, 9)];
  const chosen = shown([-1, -1], [0, 0], [0, 2], [1, 0]);
  const found = highestOf({ tiles, chosen, view: viewOf(4) }, WHOLE);
  expect(found).toEqual({ tile: tiles[0], column: 2, total: 8 });
});

it("is in the window, whatever is drawn beside it", () => {
  const tiles = [tileOf(9, 3, 4, 8)];
  const chosen = shown([0, 0], [0, 1], [0, 2], [0, 3]);
  const found = highestOf({ tiles, chosen, view: viewOf(4) }, { begin: 10, end: 30 });
  expect(found).toEqual({ tile: tiles[0], column: 2, total: 4 });
});

it("is nowhere where nothing is known", () => {
  expect(
    highestOf({ tiles: [tileOf(1)], chosen: shown([-1, -1]), view: viewOf(1) }, WHOLE),
  ).toBeNull();
});
