import { describe, expect, it } from "vitest";
import { byteTicks, eventTicks, timeTicks } from "./ticks";

const GIB = 2 ** 30;
const labels = (ticks: readonly { label: string }[]) => ticks.map((tick) => tick.label);

describe("byte ticks", () => {
  it("are powers of two apart with the unit at the top", () => {
    expect(labels(byteTicks(13.2 * GIB))).toEqual(["0", "2", "4", "6", "8", "10", "12 GiB"]);
    expect(labels(byteTicks(1.1 * GIB))).toEqual(["0", "0.25", "0.5", "0.75", "1 GiB"]);
    expect(labels(byteTicks(600 * 2 ** 20))).toEqual(["0", "128", "256", "384", "512 MiB"]);
  });
  it("number between four and nine for every size up to EiB", () => {
    for (let top = 8; top < 8 * 2 ** 60; top = Math.ceil(top * 1.37)) {
      const ticks = byteTicks(top);
      expect(ticks.length).toBeGreaterThanOrEqual(4);
      expect(ticks.length).toBeLessThanOrEqual(9);
      expect(ticks.at(-1)?.value).toBeLessThanOrEqual(top);
    }
    expect(labels(byteTicks(3 * 2 ** 60)).at(-1)).toBe("3 EiB");
  });
  it("never split a byte", () => {
    expect(labels(byteTicks(1.06))).toEqual(["0", "1 B"]);
    expect(labels(byteTicks(0))).toEqual(["0 B"]);
  });
});

describe("event ticks", () => {
  it("are whole and inside the window", () => {
    expect(labels(eventTicks({ begin: 0, end: 22332 }, 8).ticks)).toEqual([
      "0",
      "5\u202f000",
      "10\u202f000",
      "15\u202f000",
      "20\u202f000",
    ]);
    expect(labels(eventTicks({ begin: 10.5, end: 13.5 }, 8).ticks)).toEqual(["11", "12", "13"]);
  });
  it("stay exact far from zero", () => {
    const { ticks } = eventTicks({ begin: 2 ** 52, end: 2 ** 52 + 10 }, 5);
    expect(ticks.map((tick) => tick.value - 2 ** 52)).toEqual(
      [0, 2, 4, 6, 8, 10].filter((n) => (2 ** 52 + n) % 2 === 0),
    );
  });
});

describe("time ticks", () => {
  const of = (begin: number, end: number, most = 6) => timeTicks({ begin, end }, most);
  it("take the unit of the furthest", () => {
    expect(labels(of(0, 1.3e9).ticks)).toEqual(["0", "0.5 s", "1 s"]);
    expect(labels(of(0, 45e6).ticks)).toEqual(["0", "10 ms", "20 ms", "30 ms", "40 ms"]);
    expect(labels(of(0, 900).ticks)).toEqual(["0", "200 ns", "400 ns", "600 ns", "800 ns"]);
  });
  it("use the steps of clocks above a second", () => {
    expect(labels(of(0, 100e9).ticks)).toEqual(["0", "30 s", "60 s", "90 s"]);
    expect(labels(of(0, 3 * 3600e9, 4).ticks)).toEqual(["0", "01:00:00", "02:00:00", "03:00:00"]);
    expect(labels(of(86400e9 * 2, 86400e9 * 2 + 7200e9, 3).ticks)[0]).toBe("2 d 00:00:00");
  });
  it("count from a base where leading digits would repeat", () => {
    const { ticks, base } = of(3_200_000_100, 3_200_001_000, 5);
    expect(base).toEqual({ value: 3_200_000_000, label: "3.2 s" });
    expect(labels(ticks)).toEqual(["+200 ns", "+400 ns", "+600 ns", "+800 ns", "+1\u202f000 ns"]);
  });
  it("stay within what was asked for and are distinct at every zoom", () => {
    for (let size = 2; size < 1e15; size *= 3.7) {
      const { ticks, base } = of(123_456_789_012, 123_456_789_012 + size, 7);
      expect(ticks.length).toBeLessThanOrEqual(8);
      expect(new Set(labels(ticks)).size).toBe(ticks.length);
      if (base !== null) expect(base.value).toBeLessThanOrEqual(ticks[0]?.value ?? base.value);
    }
  });
});
