import { expect, it } from "vitest";
import type { FlameGraph, Frame } from "../../api";
import { layoutOf } from "./layout";
import { nodesOf, pickedNodes } from "./selected";

const frame = (name: string, library = false): Frame => ({
  function: name,
  file: "a.py",
  line: 1,
  library,
});

/** all › main › (forward › … 2 library frames, softmax, 1 smaller) */
const GRAPH = {
  way: [{ frame: 0 }],
  nodes: {
    parent: [-1, 0, 1, 2, 1, 1],
    frame: [0, 1, 2, 3, 4, 5],
    value: [10, 10, 6, 6, 3, 1],
  },
  frames: {
    kind: ["root", "own", "own", "folded", "library", "smaller"],
    function: [null, "main", "forward", null, "softmax", null],
    file: [null, "a.py", "a.py", null, "a.py", null],
    line: [null, 1, 1, null, 1, null],
  },
} as unknown as FlameGraph;

const path = (graph: FlameGraph, ...stack: Frame[]): number[] =>
  nodesOf(graph, layoutOf(graph), stack, false);

it("follows frames and folds", () => {
  const deep = [frame("mm", true), frame("linear", true), frame("forward"), frame("main")];
  expect(path(GRAPH, ...deep)).toEqual([0, 1, 2, 3]);
  expect(path(GRAPH, frame("softmax", true), frame("main"))).toEqual([0, 1, 4]);
});

it("ends where the graph has no such frame", () => {
  expect(path(GRAPH, frame("elsewhere"), frame("main"))).toEqual([0, 1]);
  expect(path(GRAPH, frame("main"), frame("elsewhere"))).toEqual([0]);
});

it("goes on from the frame that is looked into, if it goes through it", () => {
  const inner = {
    ...GRAPH,
    way: [{ frame: 0 }, { frame: 1 }],
    nodes: { parent: [-1, 0], frame: [1, 4], value: [3, 3] },
  } as unknown as FlameGraph;
  expect(path(inner, frame("softmax", true), frame("main"))).toEqual([0, 1]);
  expect(path(inner, frame("softmax", true), frame("elsewhere"))).toEqual([]);
});

it("begins with the innermost where the graph is inverted", () => {
  const stack = [frame("main"), frame("forward"), frame("x")];
  expect(nodesOf(GRAPH, layoutOf(GRAPH), stack, true)).toEqual([0, 1, 2]);
});

it("is every box that holds some of a picked group", () => {
  const picked = { nodes: { picked: [6, 6, 0, 6, 0, 0] } } as unknown as FlameGraph;
  expect(pickedNodes(picked)).toEqual([1, 3]);
  expect(pickedNodes(GRAPH)).toEqual([]);
});
