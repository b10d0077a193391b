import { describe, expect, it } from "vitest";
import type { LifeRow } from "../../../api";
import {
  ariaSort,
  birthWords,
  deathWords,
  formWords,
  lifeWords,
  nextSort,
  operatorFilter,
  placeWords,
  sizeOf,
  sizeText,
} from "./model";

const row = (over: Partial<LifeRow>): LifeRow =>
  ({
    birth: 3,
    death: 9,
    birth_time: null,
    death_time: null,
    duration: null,
    dtype: null,
    shape: null,
    ...over,
  }) as LifeRow;
const plain = (text: string): string => text.replace(/\s/g, " ");

describe("sorting", () => {
  it("starts the useful way and turns round on the second click", () => {
    expect(nextSort("-bytes", "bytes", false)).toBe("bytes");
    expect(nextSort("bytes", "bytes", false)).toBe("-bytes");
    expect(nextSort("-bytes", "label", true)).toBe("label");
    expect(nextSort("label", "duration", false)).toBe("-duration");
  });
  it("is told to screen readers", () => {
    expect(ariaSort("-bytes", "bytes")).toBe("descending");
    expect(ariaSort("bytes", "bytes")).toBe("ascending");
    expect(ariaSort("bytes", "birth")).toBe("none");
  });
});

describe("a life", () => {
  it("has its ends and its length in time where that is known", () => {
    const timed = row({ birth_time: 2e6, death_time: 12e6, duration: 1e7 });
    expect([birthWords(timed), deathWords(timed), lifeWords(timed)].map(plain)).toEqual([
      "+2.00 ms",
      "+12.0 ms",
      "10.0 ms",
    ]);
  });
  it("has them in events without time stamps", () => {
    expect([birthWords(row({})), deathWords(row({})), lifeWords(row({}))].map(plain)).toEqual([
      "event 3",
      "event 9",
      "6 events",
    ]);
  });
  it("says what it was not seen to do", () => {
    const whole = row({ birth: null, death: null });
    expect([birthWords(whole), deathWords(whole), lifeWords(whole)]).toEqual([
      "before",
      "not freed",
      "",
    ]);
  });
  it("is of a type and a shape", () => {
    expect(formWords(row({ dtype: "f32", shape: "[2]" }))).toBe("f32 [2]");
    expect(formWords(row({ shape: "[2]" }))).toBe("[2]");
  });
});

describe("filters", () => {
  it("leave what one operator made", () => {
    expect(operatorFilter("aten::mm")).toBe('op="aten::mm"');
    expect(operatorFilter("a/b c")).toBe('op="a/b c"');
    expect(operatorFilter(null)).toBe("-op:/./");
    expect(operatorFilter('say "x/y" z')).toBe('op:/^say\\x20"x\\/y"\\x20z$/');
  });
  it("take sizes as people write them", () => {
    expect([sizeOf("10 MiB"), sizeOf(""), sizeOf("many")]).toEqual([10 * 2 ** 20, null, undefined]);
    expect([sizeText(2 ** 20), sizeText(null), sizeText(2 ** 20 + 1)]).toEqual([
      "1.00 MiB",
      "",
      "1048577",
    ]);
    expect(sizeText(0)).toBe("0 B");
  });
});

it("a page says where it is", () => {
  expect(plain(placeWords(100, 100, 1234))).toBe("101–200 of 1 234");
  expect(placeWords(0, 0, 0)).toBe("none of 0");
});
