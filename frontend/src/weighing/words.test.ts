import { describe, expect, it } from "vitest";
import type { Weighed } from "../api";
import { exactWeight, heading, weight } from "./words";

const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

describe("weights", () => {
  it.each([
    [1536, "bytes", "1.50 KiB", "1 536 bytes"],
    [1536, "allocations", "1 536", "1 536 allocations"],
    [3 * 2 ** 30 * 1e9, "byte_ns", "3.00 GiB · s", "≈ 3 221 225 472 000 000 000 byte · ns"],
    // Whatever it was, it arrives as the nearest number: not all of its digits are its own.
    [2 ** 62 + 1024, "byte_ns", "4.29 GiB · s", "≈ 4 611 686 018 427 390 000 byte · ns"],
    [2048 * 1e6, "byte_ns", "2.00 KiB · ms", "2 048 000 000 byte · ns"],
    [2048 * 1e3, "byte_ns", "2.00 KiB · µs", "2 048 000 byte · ns"],
    [7, "byte_ns", "7 B · ns", "7 byte · ns"],
    [2048, "byte_events", "2.00 KiB · event", "2 048 byte · events"],
  ] as const)("of %d %s are written", (value, unit, short, exact) => {
    expect(plain(weight(value, unit))).toBe(short);
    expect(plain(exactWeight(value, unit))).toBe(exact);
  });
});

describe("headings", () => {
  const moment = { event: 7, time: null, step: null };
  const say = (answer: Partial<Weighed>, atPeak = false, whole = false): string =>
    plain(heading({ moment: null, ...answer } as Weighed, { atPeak, whole }));

  it("say what is weighed, and when", () => {
    expect(say({ of: "alive", moment }, true)).toBe("Alive at the peak, event 7");
    expect(say({ of: "alive", moment })).toBe("Alive at event 7");
    expect(say({ of: "highest", moment })).toBe(
      "Alive at the highest moment of the window, event 7",
    );
    expect(say({ of: "lifetime" }, false, true)).toBe("Bytes × lifetime within the recording");
    expect(say({ of: "allocations" })).toBe("Allocations born in the window");
    expect(say({ of: "kept" })).toBe("Born in the window and alive at its end");
    expect(say({ of: "passing" })).toBe("Born in the window and freed within it");
  });
});
