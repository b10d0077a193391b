/** A tree of buffers laid out as boxes: side by side in a plane, or level under level. */

import type { PlanNode } from "../../api";

/** In shares of the whole, 0 to 1; `level` counts from the node that is looked into. */
export interface Box {
  node: PlanNode;
  /** Names on the way from the node that is looked into. */
  way: readonly string[];
  x: number;
  y: number;
  width: number;
  height: number;
  level: number;
}

interface Room {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Levels that an icicle shows. */
export const LEVELS = 6;

/** Level under level, each as wide as its bytes; what is narrower than `least` is left out. */
export function icicle(root: PlanNode, least: number): Box[] {
  const found: Box[] = [];
  const place = (node: PlanNode, way: readonly string[], x: number, level: number): void => {
    let at = x;
    for (const child of node.children) {
      const width = root.bytes > 0 ? child.bytes / root.bytes : 0;
      if (width >= least) {
        const path = [...way, child.name];
        const y = level / LEVELS;
        found.push({ node: child, way: path, x: at, y, width, height: 1 / LEVELS, level });
        if (level + 1 < LEVELS) place(child, path, at, level + 1);
      }
      at += width;
    }
  };
  place(root, [], 0, 0);
  return found;
}

/**
 * Squarified (Bruls, Huizing, van Wijk): two levels, the second inside the first under `head` of its
 * height. `aspect` is width ÷ height of the whole; boxes of less than `least` of it are left out.
 */
export function treemap(root: PlanNode, aspect: number, least: number, head: number): Box[] {
  const whole: Room = { x: 0, y: 0, width: 1, height: 1 };
  return squarified(root, [], whole, aspect, 0, least).flatMap((box) => {
    const inner = { ...box, y: box.y + head, height: box.height - head };
    const isRoomy = inner.height > head && box.node.children.length > 0;
    if (!isRoomy) return [box];
    return [box, ...squarified(box.node, box.way, inner, aspect, 1, least)];
  });
}

function squarified(
  parent: PlanNode,
  way: readonly string[],
  room: Room,
  aspect: number,
  level: number,
  least: number,
): Box[] {
  const found: Box[] = [];
  const scale = parent.bytes > 0 ? (room.width * room.height) / parent.bytes : 0;
  const left = { ...room };
  let row: PlanNode[] = [];
  const areas = (nodes: readonly PlanNode[]): number[] => nodes.map(({ bytes }) => bytes * scale);
  const side = (): number => Math.min(left.width * aspect, left.height);
  const flush = (): void => {
    const sum = areas(row).reduce((total, area) => total + area, 0);
    const isTall = left.width * aspect >= left.height;
    let at = isTall ? left.y : left.x;
    const thick = isTall
      ? sum / Math.max(left.height, Number.EPSILON)
      : sum / Math.max(left.width, Number.EPSILON);
    for (const node of row) {
      const long = (node.bytes * scale) / Math.max(thick, Number.EPSILON);
      const box = isTall
        ? { x: left.x, y: at, width: thick, height: long }
        : { x: at, y: left.y, width: long, height: thick };
      if (box.width * box.height >= least) {
        found.push({ node, way: [...way, node.name], ...box, level });
      }
      at += long;
    }
    if (isTall) Object.assign(left, { x: left.x + thick, width: left.width - thick });
    else Object.assign(left, { y: left.y + thick, height: left.height - thick });
    row = [];
  };
  for (const node of parent.children) {
    if (node.bytes <= 0) continue;
    const grown = [...row, node];
    const [before, after] = [areas(row), areas(grown)].map((each) => worst(each, side(), aspect));
    if (row.length > 0 && (after as number) > (before as number)) flush();
    row.push(node);
  }
  if (row.length > 0) flush();
  return found;
}

/** The ratio of sides of the least square of `areas` in a row along a side of `length`. */
function worst(areas: readonly number[], length: number, aspect: number): number {
  const sum = areas.reduce((total, area) => total + area, 0) * aspect;
  const squared = length * length;
  if (sum <= 0 || squared <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(
    ...areas.map((area) => {
      const own = Math.max(area * aspect, Number.EPSILON);
      return Math.max((squared * own) / (sum * sum), (sum * sum) / (squared * own));
    }),
  );
}

/** The node at the end of `way`; where that is gone, as far as it leads. */
export function nodeAt(root: PlanNode, way: readonly string[]): [PlanNode, string[]] {
  const led: string[] = [];
  let node = root;
  for (const name of way) {
    const next = node.children.find((child) => child.name === name);
    if (!next || next.children.length === 0) break;
    node = next;
    led.push(name);
  }
  return [node, led];
}
