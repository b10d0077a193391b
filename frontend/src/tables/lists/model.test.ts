import { describe, expect, it } from "vitest";
import type { LifeRow, ModuleRow } from "../../api";
import {
  birthWords,
  clockWords,
  deathWords,
  formWords,
  itemOf,
  lifeWords,
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

describe("a life", () => {
  it("has its ends and its length in time where that is known", () => {
    const timed = row({ birth_time: 2e6, death_time: 12e6, duration: 1e7 });
    expect([birthWords(timed), deathWords(timed), lifeWords(timed)].map(plain)).toEqual([
      "+2.00 ms",
      "+12.0 ms",
      "10.0 ms",
    ]);
  });
  it("of one event is of one", () => {
    expect(plain(lifeWords(row({ death: 4 })))).toBe("1 event");
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

describe("a run of a module", () => {
  const run: ModuleRow = {
    id: "7",
    program: "12",
    name: "jit_f",
    on: "TPU:0",
    begin: 4_870_399_693,
    end: 4_870_400_654,
    duration: 961,
    begin_event: 3,
    end_event: 4,
    before: 1,
    peak: 2,
  };
  const whole = { begin: 100, end: 900 };

  it("has its moments to the microsecond", () => {
    expect(plain(clockWords(4_870_399_693))).toBe("4.870 400 s");
    expect(plain(clockWords(-1500))).toBe("−0.000 001 s");
    expect(plain(clockWords(1_234_000_000_000))).toBe("1 234.000 000 s");
  });
  it("is where its track has it, on either axis", () => {
    const ends = { begin: 4_870_399_693, end: 4_870_400_654 };
    expect(itemOf(run, "time", whole)).toMatchObject({ ...ends, id: "7", count: 1, open: null });
    expect(itemOf(run, "event", whole)).toMatchObject({ begin: 3, end: 4, on: "TPU:0" });
  });
  it("reaches the end where it was not seen to end", () => {
    const open = { ...run, end: null, duration: null };
    expect(itemOf(open, "time", whole)).toMatchObject({ end: 900, open: "end" });
  });
});
