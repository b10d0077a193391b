import { describe, expect, it } from "vitest";
import { paint } from "./paint";
import { coloursOf, type Palette } from "./palette";
import { fill } from "./raster";
import { type Life, tileOf } from "./sample";
import type { View } from "./sheet";

const PALETTE: Palette = {
  bands: [["#ff0000", "#00ff00", "#0000ff", "#ffff00"]],
  background: "#ffffff",
  gap: "#808080",
  held: "#eeeeee",
  outline: "#000000",
  faint: [[]],
  selected: null,
  siblings: [],
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
function picture(palette: Partial<Palette>, parts = [{ tile: 0, begin: 0, end: 8 }]) {
  const tile = tileOf(LIVES, { level: 0, index: 0, events: 8, pixel: 4 });
  const { sheet, numbers } = fill([tile], parts, VIEW);
  const pixels = new Uint8Array(
    paint(sheet, coloursOf([tile], numbers, { ...PALETTE, ...palette })).buffer,
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

  it("hatches siblings with lines that go on from column to column", () => {
    const colour = picture({ siblings: [0] });
    const lines = (x: number) =>
      Array.from({ length: 19 }, (_, y) => y).filter((y) => colour(x, y) === "#000000");
    expect(lines(0)).toEqual([0, 8, 16]);
    expect(lines(1)).toEqual([7, 15]);
  });
});
