import { describe, expect, it } from "vitest";
import { paint } from "./paint";
import { coloursOf, type Palette } from "./palette";
import { fill } from "./raster";
import { type Life, tileOf } from "./sample";
import type { View } from "./sheet";
import { LOWEST } from "./things";

const PALETTE: Palette = {
  bands: [["#ff0000", "#00ff00", "#0000ff", "#ffff00"]],
  background: "#ffffff",
  gap: "#808080",
  held: "#eeeeee",
  outline: "#000000",
  faint: [[]],
  selected: null,
  siblings: [],
  lasting: false,
  searching: false,
};

const life = (bytes: number, band: number, other: Partial<Life> = {}): Life => ({
  birth: 0,
  death: 10,
  bytes,
  band,
  offset: 0,
  hit: true,
  ...other,
});

const LIVES = [life(20, 0), life(20, 1, { hit: false }), life(2, 2), life(20, 3, { birth: 4 })];
const VIEW: View = { begin: 0, end: 8, low: 0, high: 80, width: 8, height: 80 };

/** The picture as colours, `colour(x, y)` with y from the bottom. */
function picture(palette: Partial<Palette>, parts = [{ tile: 0, begin: 0, end: 8 }], view = VIEW) {
  const tile = tileOf(LIVES, { level: 0, index: 0, events: 8, pixel: 4 });
  const { sheet, numbers } = fill([tile], parts, view);
  const pixels = new Uint8Array(
    paint(sheet, coloursOf([tile], numbers, { ...PALETTE, ...palette }, sheet.scale)).buffer,
  );
  return (x: number, y: number) => {
    const at = 4 * (x * 80 + y);
    const [red, green, blue, solid] = [...pixels.slice(at, at + 4)];
    const hex = [red, green, blue].map((value) => (value ?? 0).toString(16).padStart(2, "0"));
    return solid === 0 ? "" : `#${hex.join("")}`;
  };
}

describe("a picture", () => {
  it("has the colours of bands, with an edge on what is tall", () => {
    const colour = picture({});
    expect([colour(0, 10), colour(0, 30), colour(5, 50)]).toEqual([
      "#ff0000",
      "#00ff00",
      "#ffff00",
    ]);
    expect(colour(0, 19)).toBe("#c70000");
    expect(colour(0, 70)).toBe("#ffffff");
  });

  it("shows what is too small in the colour of its band, paler", () => {
    expect(picture({})(0, 41)).toBe("#5959ff");
  });

  it("is see-through where nothing is known", () => {
    const colour = picture({}, [{ tile: 0, begin: 0, end: 4 }]);
    expect(colour(3, 10)).toBe("#ff0000");
    expect(colour(5, 10)).toBe("");
  });

  it("lets stand back what is not found, or not of the group that is picked", () => {
    const found = picture({ searching: true });
    expect(found(0, 10)).toBe("#ff0000");
    expect(found(0, 30)).toBe("#c7ffc7");
    const picked = picture({ faint: [[0, 2, 3]] });
    expect(picked(0, 10)).toBe("#ffc7c7");
    expect(picked(0, 30)).toBe("#00ff00");
  });

  it("outlines the selected one over its life, and goes on where it is cut off", () => {
    const colour = picture({ selected: 3 });
    // It lives from 4 on, beyond the picture: the right side stays open.
    expect([colour(4, 50), colour(5, 50), colour(6, 50), colour(7, 50)]).toEqual([
      "#000000",
      "#000000",
      "#ffff00",
      "#ffff00",
    ]);
    expect([colour(6, 42), colour(6, 43), colour(6, 44)]).toEqual([
      "#000000",
      "#000000",
      "#ffff00",
    ]);
    expect(colour(6, 61)).toBe("#000000");
    expect(colour(6, 41)).toBe("#5959ff");
  });

  it("outlines it no thicker where columns are shown by several pixels", () => {
    const colour = picture({ selected: 3 }, undefined, { ...VIEW, width: 24 });
    const across = Array.from({ length: 12 }, (_, x) => colour(12 + x, 50) === "#000000");
    expect(across).toEqual(across.map((_, x) => x < 2));
  });

  it.each([8, 24])("hatches siblings with lines that go on from column to column (%i)", (width) => {
    const colour = picture({ siblings: [0] }, undefined, { ...VIEW, width });
    const lines = (x: number) =>
      Array.from({ length: 19 }, (_, y) => y).filter((y) => colour(x, y) === "#000000");
    expect(lines(0)).toEqual([0, 8, 16]);
    expect(lines(1)).toEqual([7, 15]);
    expect(lines(7)).toEqual([1, 9, 17]);
    expect(colour(0, 19)).toBe("#c70000");
  });

  it("hatches what is there all the time the other way, halfway to the background", () => {
    const lives = [life(20, 0, { birth: -1, death: 10 }), life(20, 1)];
    const tile = tileOf(lives, { level: 0, index: 0, events: 8, pixel: 1 });
    const view = { ...VIEW, high: 80 };
    const { sheet, numbers } = fill([tile], [{ tile: 0, begin: 0, end: 8 }], view);
    const paintIt = (lasting: boolean, siblings: number[] = []) =>
      paint(sheet, coloursOf([tile], numbers, { ...PALETTE, lasting, siblings }, sheet.scale));
    const pixels = paintIt(true);
    const lines = (x: number, y: number) =>
      Array.from({ length: 19 }, (_, up) => up).filter(
        (up) => (pixels[x * 80 + y + up] as number) >>> 0 === 0xff7f7fff,
      );
    expect([lines(0, 0), lines(1, 0), lines(7, 0)]).toEqual([
      [0, 8, 16],
      [1, 9, 17],
      [7, 15],
    ]);
    // Not what is born later, nor where nobody asked for it; a sibling is one first of all.
    expect(lines(0, 20)).toEqual([]);
    expect(paintIt(false)).not.toContain(pixels[0]);
    expect(paintIt(true, [0])).toEqual(paintIt(false, [0]));
  });

  it("leaves see-through what nobody knows, edge and all", () => {
    const tile = tileOf([life(20, 0)], { level: 0, index: 0, events: 8, pixel: 1 });
    const { sheet, numbers } = fill([tile], [{ tile: 0, begin: 0, end: 4 }], { ...VIEW, high: 80 });
    const painted = paint(sheet, coloursOf([tile], numbers, PALETTE, sheet.scale));
    expect(painted.slice(0, 4 * 80)).not.toContain(0);
    expect([...new Set(painted.slice(4 * 80))]).toEqual([0]);
  });

  it("has edges on what is tall, in every column that shows it, and on nothing else", () => {
    const pixels = [100, 2, 60].map((bytes) => life(bytes, 0));
    const tile = tileOf(pixels, { level: 0, index: 0, events: 4, pixel: 1 });
    const view = { begin: 0, end: 4, low: 0, high: 200, width: 80, height: 200 };
    const { sheet, numbers } = fill([tile], [{ tile: 0, begin: 0, end: 4 }], view);
    const colours = coloursOf([tile], numbers, PALETTE, sheet.scale);
    const painted = paint(sheet, colours);
    const edge = colours.shades[2 * (0 - LOWEST) + 1];
    const places = [...painted.keys()].filter((place) => painted[place] === edge);
    const expected = Array.from({ length: 80 }, (_, x) => [x * 200 + 99, x * 200 + 161]).flat();
    expect(places).toEqual(expected);
  });
});
