import { expect, it } from "vitest";
import type { PlanNode } from "../../api";
import { type Box, icicle, nodeAt, treemap } from "./boxes";

const node = (name: string, bytes: number, children: PlanNode[] = []): PlanNode => ({
  name,
  bytes,
  padding: 0,
  count: 1,
  id: null,
  birth: null,
  death: null,
  children,
});

const ROOT = node("all", 100, [
  node("a", 60, [node("x", 40), node("y", 20)]),
  node("b", 30, [node("z", 30)]),
  node("c", 10),
]);

const area = ({ width, height }: Box): number => width * height;

it("puts levels under each other, as wide as their bytes", () => {
  const found = icicle(ROOT, 0).map(({ way, x, width, level }) => [way.join("/"), x, width, level]);
  expect(found).toEqual([
    ["a", 0, 0.6, 0],
    ["a/x", 0, 0.4, 1],
    ["a/y", 0.4, 0.2, 1],
    ["b", 0.6, 0.3, 0],
    ["b/z", 0.6, 0.3, 1],
    ["c", expect.closeTo(0.9), 0.1, 0],
  ]);
});

it("leaves out what is too narrow, and keeps what is beside it where it is", () => {
  expect(icicle(ROOT, 0.25).map(({ way }) => way.join("/"))).toEqual(["a", "a/x", "b", "b/z"]);
});

it.each([0.5, 1, 3])("fills the plane with the bytes of each, at an aspect of %s", (aspect) => {
  const boxes = treemap(ROOT, aspect, 0, 0).filter(({ level }) => level === 0);
  for (const box of boxes) expect(area(box)).toBeCloseTo(box.node.bytes / 100);
  for (const [at, one] of boxes.entries()) {
    expect(one.x + one.width).toBeLessThanOrEqual(1 + 1e-9);
    expect(one.y + one.height).toBeLessThanOrEqual(1 + 1e-9);
    for (const other of boxes.slice(at + 1)) {
      const across = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
      const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
      expect(Math.min(across, down)).toBeLessThanOrEqual(1e-9);
    }
  }
});

it("puts the second level inside the first, under its head", () => {
  const boxes = treemap(ROOT, 1, 0, 0.05);
  const [a] = boxes.filter(({ way }) => way.join("/") === "a") as [Box];
  const inner = boxes.filter(({ way }) => way.length === 2 && way[0] === "a");
  expect(inner.map(({ node: { name } }) => name)).toEqual(["x", "y"]);
  for (const box of inner) {
    expect(box.y).toBeGreaterThanOrEqual(a.y + 0.05 - 1e-9);
    expect(box.y + box.height).toBeLessThanOrEqual(a.y + a.height + 1e-9);
  }
  const whole = inner.reduce((sum, box) => sum + area(box), 0);
  expect(whole).toBeCloseTo(a.width * (a.height - 0.05));
});

it("holds nothing where nothing is alive", () => {
  expect(treemap(node("all", 0), 1, 0, 0)).toEqual([]);
  expect(icicle(node("all", 0), 0)).toEqual([]);
});

it("leads as far as there is something to look into", () => {
  expect(nodeAt(ROOT, ["a", "x"])).toEqual([ROOT.children[0], ["a"]]);
  expect(nodeAt(ROOT, ["gone"])).toEqual([ROOT, []]);
});
