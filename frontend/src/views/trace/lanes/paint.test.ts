import { describe, expect, it } from "vitest";
import type { TraceItems, TraceTrack } from "../../../api";
import type { Ink } from "../../../theme/theme";
import type { Surface } from "../../../timeline/paint/surface";
import { HEAD, PITCH, placeTracks } from "./layout";
import { type Drawing, paintItems } from "./paint";

interface Item {
  readonly lane?: number;
  readonly from: number;
  readonly to: number;
  readonly count?: number;
  readonly busy?: number;
  readonly name?: string;
}

const TRACK: TraceTrack = {
  id: "7",
  name: "thread 7",
  kind: "host",
  spans: 10,
  events: 0,
  begin: 0,
  end: 1000,
  device: null,
  lanes: 2,
};
const INK = { text: "#000000", accent: "#ff0000", background: "#ffffff" } as Ink;

function itemsOf(rows: readonly Item[], hits: readonly number[] | null = null): TraceItems {
  const names = [...new Set(rows.map(({ name = "" }) => name))];
  const zero = new Int32Array(rows.length);
  return {
    begin: 0,
    end: 1000,
    pixel: 1,
    lanes: [
      ["7", 0],
      ["7", 1],
    ],
    names,
    kinds: ["op"],
    length: rows.length,
    lane: Int32Array.from(rows, ({ lane = 0 }) => lane),
    from: Float64Array.from(rows, ({ from }) => from),
    to: Float64Array.from(rows, ({ to }) => to),
    span: Int32Array.from(rows, (_, at) => at),
    count: Int32Array.from(rows, ({ count = 1 }) => count),
    kind: zero,
    name: Int32Array.from(rows, ({ name = "" }) => names.indexOf(name)),
    net: new Float64Array(rows.length),
    busy: Float64Array.from(rows, ({ busy = 0 }) => busy),
    hits: hits === null ? null : Int32Array.from(hits),
  };
}

/** What is painted, a pixel a ns and a letter 6 pixels wide: boxes as `x y wide alpha`, and texts. */
function painted(of: TraceItems, more: Partial<Drawing> = {}) {
  const boxes: { x: number; y: number; wide: number; alpha: number; colour: string }[] = [];
  const texts: { text: string; x: number }[] = [];
  const context = {
    globalAlpha: 1,
    fillStyle: "",
    fillRect(x: number, y: number, wide: number) {
      boxes.push({ x, y, wide, alpha: this.globalAlpha, colour: this.fillStyle });
    },
    fillText: (text: string, x: number) => texts.push({ text, x }),
    measureText: (text: string) => ({ width: 6 * text.length }),
  };
  const surface = { context, width: 1000, height: 200 } as unknown as Surface;
  const drawing: Drawing = {
    reach: { begin: 0, end: 1000 },
    from: 0,
    width: 1000,
    seen: { left: 0, right: 1000 } as Drawing["seen"],
    placed: placeTracks([TRACK], [], [], []),
    colourOf: (_, at) => `colour ${at}`,
    over: -1,
    ...more,
  };
  paintItems(surface, of, drawing, INK);
  return { boxes, texts };
}

describe("spans of a track", () => {
  it("are boxes from where they begin to where they end, in their lane and colour", () => {
    const { boxes } = painted(
      itemsOf([
        { from: 100, to: 400 },
        { lane: 1, from: 150, to: 151 },
      ]),
    );
    expect(boxes.map(({ x, y, colour }) => [x, y, colour])).toEqual([
      [100, HEAD, "colour 0"],
      [150, HEAD + PITCH, "colour 1"],
    ]);
    // With a hair of background beside it.
    expect(boxes.map(({ wide }) => wide)).toEqual([299.5, 1]);
  });
  it("are named as far as a name fits", () => {
    const { texts } = painted(
      itemsOf([
        { from: 0, to: 100, name: "aten::mm" },
        { from: 100, to: 150, name: "aten::convolution" },
        { from: 150, to: 170, name: "aten::mm" },
      ]),
    );
    expect(texts[0]).toEqual({ text: "aten::mm", x: 4 });
    expect(texts[1]?.text.length).toBeGreaterThan(1);
    expect(texts[1]?.text.length).toBeLessThanOrEqual(7);
    expect("aten::convolution".startsWith(texts[1]?.text.replace("…", "") ?? "-")).toBe(true);
    expect(texts.length).toBe(2);
  });
  it("have their names where they are seen", () => {
    const seen = { left: 300, right: 600 } as Drawing["seen"];
    const { texts } = painted(itemsOf([{ from: 0, to: 900, name: "aten::mm" }]), { seen });
    expect(texts).toEqual([{ text: "aten::mm", x: 304 }]);
  });
  it("that share pixels are the fainter the less of them is busy", () => {
    const { boxes, texts } = painted(
      itemsOf([
        { from: 0, to: 100, count: 3, busy: 80, name: "aten::mm" },
        { from: 200, to: 300, count: 9, busy: 1 },
        { from: 400, to: 500, count: 1, busy: 100 },
      ]),
    );
    expect(boxes.map(({ alpha }) => alpha)).toEqual([0.8, 0.35, 1]);
    expect(texts[0]?.text).toBe("3 × aten::mm");
  });
  it("stand out where something is searched for", () => {
    const of = itemsOf(
      [
        { from: 0, to: 100 },
        { from: 200, to: 300 },
      ],
      [0, 1],
    );
    const { boxes } = painted(of);
    const [missed, hit, mark] = boxes;
    expect(missed?.alpha).toBeLessThan(hit?.alpha ?? 0);
    expect([mark?.x, mark?.colour]).toEqual([200, INK.accent]);
    expect(boxes.length).toBe(3);
  });
});
