import { describe, expect, it } from "vitest";
import type { EventAbout, EventRow } from "../api";
import { eventFacts, eventTitle } from "./about";

const ABOUT: EventAbout = {
  requested: 2_000_000,
  size: 2_097_152,
  name: null,
  category: "unknown",
  op: "matmul",
  module: null,
  region: "output",
  dtype: "float",
  shape: "[256,2048]",
  step: 1,
  allocated: 66_853_888,
  reserved: null,
};

const event = (over: Partial<EventRow>): EventRow => ({
  event: 3,
  time: null,
  action: "alloc",
  address: "0x100",
  size: 2_097_152,
  stream: null,
  pool: null,
  label: "matmul",
  allocation: "7",
  compile_context: null,
  user_metadata: null,
  about: ABOUT,
  ...over,
});
const plain = (text: string): string => text.replace(/\s/g, " ");
const said = (row: EventRow, basis: string) =>
  eventFacts(row, basis).map(({ word, value }) => [word, plain(value)]);

describe("an event", () => {
  it("says what happened", () => {
    expect(plain(eventTitle(event({})))).toBe("Allocated 2.00 MiB");
    expect(plain(eventTitle(event({ action: "oom", size: 1 << 30 })))).toBe(
      "Out of memory: asked for 1.00 GiB",
    );
    expect(eventTitle(event({ action: "new_kind", size: null }))).toBe("new kind");
  });

  it("has what the source has, and nothing else", () => {
    expect(said(event({}), "size")).toEqual([
      ["requested", "1.91 MiB"],
      ["operator", "matmul"],
      ["step", "1"],
      ["region", "output"],
      ["type, shape", "float [256,2048]"],
      ["address", "0x100"],
      ["allocated after it", "63.76 MiB"],
    ]);
  });

  it("names the other size only where there is another", () => {
    const words = (row: EventRow, basis: string) => said(row, basis).map(([word]) => word);
    expect(words(event({ size: 2_000_000 }), "requested")).toContain("block");
    const same = event({ about: { ...ABOUT, requested: 2_097_152 } });
    expect(words(same, "size")).not.toContain("requested");
  });

  it("says where it was made besides its operator", () => {
    expect(said(event({ label: "f · a.py:3" }), "size")).toContainEqual(["where", "f · a.py:3"]);
  });
});
