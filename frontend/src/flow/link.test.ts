import { describe, expect, it } from "vitest";
import { fromWords, type Link, readHash, writeHash } from "./link";

const WHOLE: Link = {
  run: "llm/train & co",
  source: "snapshot 1=2%.pickle",
  view: "profile",
  device: "cuda:0",
  axis: "event",
  window: { begin: -1, end: 9_007_199_254_740_991 },
  at: 1234,
  by: "pattern",
  pattern: "attention|mlp",
  selection: { kind: "group", by: "pattern", key: "…rest" },
  filter: "size>10MiB step=0",
  blocks: "group",
  areas: "allocator",
  table: "allocations",
  livesSort: "-duration",
  operatorsSort: "label",
  modulesSort: "-peak",
  least: 0,
  most: 1_048_576,
  operator: "/^aten::/",
  module: "jit_train (7)",
  running: "cursor",
  alive: "cursor",
  events: "action:alloc -free",
  sort: "-largest",
  find: "category:gradient size>10MiB",
  only: "never",
  minimum: 1024,
  layout: "lane",
  bytes: { begin: 0, end: 85_899_345_920 },
  of: "kept",
  calls: ["inverted", "unfolded", "upwards", "groups"],
  call: "00ff00ff00ff00ff",
};

describe("a link", () => {
  it("restores all that it was made from", () => {
    expect(readHash(writeHash("#memory", WHOLE))).toEqual(WHOLE);
    const one: Link = { source: "a", selection: { kind: "allocation", id: "7" } };
    expect(readHash(writeHash("", one))).toEqual(one);
    const step: Link = { source: "a", selection: { kind: "span", id: "3" } };
    expect(readHash(writeHash("", step))).toEqual(step);
  });

  it("begins with the tab of the plugin", () => {
    expect(writeHash("", { run: "a" })).toBe("#memory&p.memory.run=a");
    expect(writeHash("#p.scalars.x=1", { run: "a" })).toBe("#memory&p.scalars.x=1&p.memory.run=a");
  });

  it("leaves what is another plugin's as it is", () => {
    const hash = "#memory&p.scalars.tag=%20x&p.memory.run=old&p.memory.at=3";
    expect(writeHash(hash, { run: "new" })).toBe("#memory&p.scalars.tag=%20x&p.memory.run=new");
  });

  it.each([
    ["#memory&p.memory.at=peak", {}],
    ["#memory&p.memory.at=1e9", {}],
    ["#memory&p.memory.at=-2", {}],
    ["#memory&p.memory.sort=-colour", {}],
    ["#memory&p.memory.window=5..5", {}],
    ["#memory&p.memory.window=5", {}],
    ["#memory&p.memory.axis=sideways", {}],
    ["#memory&p.memory.only=some", {}],
    ["#memory&p.memory.minimum=-1", {}],
    ["#memory&p.memory.layout=heap", {}],
    ["#memory&p.memory.bytes=9..2", {}],
    ["#memory&p.memory.of=mood", {}],
    ["#memory&p.memory.calls=sideways", {}],
    ["#memory&p.memory.call=main", {}],
    ["#memory&p.memory.running=always", {}],
    ["#memory&p.memory.alive=always", {}],
    ["#memory&p.memory.group=x", {}],
    ["#memory&p.memory.run", {}],
    ["#scalars", {}],
    ["", {}],
  ])("leaves out what it does not understand: %s", (hash, link) => {
    expect(readHash(hash)).toEqual(link);
  });

  it("survives a bare percent sign", () => {
    expect(readHash("#memory&p.memory.run=100%")).toEqual({ run: "100%" });
  });

  it("keeps a group without a name", () => {
    const link: Link = { source: "a", selection: { kind: "group", by: "op", key: "" } };
    expect(readHash(writeHash("", link))).toEqual(link);
  });

  it("comes from TensorBoard's own splitting too", () => {
    expect(fromWords({ run: "a", window: "1..9" })).toEqual({
      run: "a",
      window: { begin: 1, end: 9 },
    });
  });
});
