import { describe, expect, it } from "vitest";
import {
  bytes,
  count,
  counted,
  duration,
  exactBytes,
  grouped,
  moment,
  share,
  signedBytes,
} from ".";

/** Spaces that do not break, written as plain ones. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

describe("bytes", () => {
  it.each([
    [0, "0 B"],
    [1, "1 B"],
    [1023, "1 023 B"],
    [1024, "1.00 KiB"],
    [1536, "1.50 KiB"],
    [1024 ** 2 - 1, "1.00 MiB"],
    [512 * 1024 ** 2, "512.0 MiB"],
    [12_423_192_576, "11.57 GiB"],
    [2 ** 53, "8.00 PiB"],
    [-1536, "−1.50 KiB"],
  ])("writes %d as %s", (value, text) => {
    expect(plain(bytes(value))).toBe(text);
  });

  it("never writes 1024.0 of a unit", () => {
    for (let power = 1; power < 6; power += 1) {
      for (const off of [1, 1024 ** power / 50_000]) {
        expect(bytes(Math.round(1024 ** power - off))).not.toMatch(/102[4-9]\.\d/);
      }
    }
  });

  it("keeps every digit where asked to", () => {
    expect(plain(exactBytes(536_870_912))).toBe("536 870 912 bytes");
    expect(plain(exactBytes(1))).toBe("1 byte");
    expect(plain(exactBytes(2 ** 61))).toBe("2 305 843 009 213 693 952 bytes");
  });

  it("says that a number is not known", () => {
    expect(bytes(null)).toBe("–");
    expect(count(undefined)).toBe("–");
  });

  it("signs differences", () => {
    expect(plain(signedBytes(2048))).toBe("+2.00 KiB");
    expect(plain(signedBytes(-2048))).toBe("−2.00 KiB");
    expect(plain(signedBytes(0))).toBe("±0 B");
  });
});

describe("counts", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1000, "1 000"],
    [22_332, "22 332"],
    [1_234_567, "1 234 567"],
    [-1000, "−1 000"],
  ])("groups %d as %s", (value, text) => {
    expect(plain(grouped(value))).toBe(text);
  });

  it("makes words plural", () => {
    expect(plain(counted(1, "block"))).toBe("1 block");
    expect(plain(counted(1204, "block"))).toBe("1 204 blocks");
    expect(plain(counted(2, "entry", "entries"))).toBe("2 entries");
  });

  it.each([
    [0, 100, "0.0 %"],
    [1, 3, "33.3 %"],
    [1, 100_000, "< 0.1 %"],
    [5, 0, "–"],
  ])("writes %d of %d as %s", (part, whole, text) => {
    expect(plain(share(part, whole))).toBe(text);
  });
});

describe("time", () => {
  it.each([
    [0, "0 s"],
    [7, "7.00 ns"],
    [870, "870 ns"],
    [999_600, "1.00 ms"],
    [310_000_000, "310 ms"],
    [1_250_000_000, "1.25 s"],
    [59_940_000_000, "59.9 s"],
    [61_000_000_000, "1 min 1 s"],
    [3_600_000_000_000, "1 h"],
    [7_380_000_000_000, "2 h 3 min"],
    [-41_000, "−41.0 µs"],
  ])("writes %d ns as %s", (ns, text) => {
    expect(plain(duration(ns))).toBe(text);
  });

  it("counts moments from where the recording begins", () => {
    expect(plain(moment(510_000_000, 100_000_000))).toBe("+410 ms");
    expect(plain(moment(0, 1000))).toBe("−1.00 µs");
  });
});
