import { describe, expect, it } from "vitest";
import type { FlameGraph } from "../../api";
import { layoutOf, neighbour, nodeAt } from "./layout";

/** all 100 = main 60 (forward 40, loss 10, 10 of its own) + 1 smaller 15 + 25 of its own */
const GRAPH = {
  nodes: {
    parent: [-1, 0, 1, 1, 0],
    value: [100, 60, 40, 10, 15],
  },
} as FlameGraph;

describe("boxes", () => {
  const layout = layoutOf(GRAPH);

  it("lie side by side under their parent, in the order they come", () => {
    expect([...layout.begin]).toEqual([0, 0, 0, 0.4, 0.6]);
    expect([...layout.width]).toEqual([1, 0.6, 0.4, 0.1, 0.15]);
    expect([...layout.depth]).toEqual([0, 1, 2, 2, 1]);
    expect(layout.rows).toEqual([[0], [1, 4], [2, 3]]);
  });

  it("keep what is below them and their own apart", () => {
    expect(layout.below).toEqual([[1, 4], [2, 3], [], [], []]);
    expect([...layout.own]).toEqual([25, 10, 40, 10, 15]);
  });

  it.each([
    [0, 0, 0],
    [0, 0.999, 0],
    [1, 0.59, 1],
    [1, 0.6, 4],
    [1, 0.75, null],
    [2, 0.45, 3],
    [2, 0.55, null],
    [3, 0, null],
  ])("are found in row %d at %d", (row, share, node) => {
    expect(nodeAt(layout, row, share)).toBe(node);
  });

  it("are walked with the arrow keys", () => {
    const walk = (node: number, step: "in" | "out" | "left" | "right") =>
      neighbour(layout, GRAPH.nodes.parent, node, step);
    expect(walk(0, "in")).toBe(1);
    expect(walk(1, "right")).toBe(4);
    expect(walk(4, "in")).toBeNull();
    expect(walk(3, "left")).toBe(2);
    expect(walk(2, "left")).toBeNull();
    expect(walk(3, "out")).toBe(1);
    expect(walk(0, "out")).toBeNull();
  });

  it("of nothing are one box", () => {
    const nothing = { nodes: { parent: [-1], value: [0] } } as FlameGraph;
    expect([...layoutOf(nothing).width]).toEqual([1]);
  });
});
