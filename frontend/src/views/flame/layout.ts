/** The nodes of an answer, made into boxes: where each begins, how wide and how deep it is. */

import type { FlameGraph } from "../../api";

export interface Layout {
  /** By node: left edge and width as shares of the whole, and the row. */
  readonly begin: Float64Array;
  readonly width: Float64Array;
  readonly depth: Uint32Array;
  /** Nodes of each row from left to right. */
  readonly rows: readonly (readonly number[])[];
  /** Nodes below each node, the largest first, what is merged last. */
  readonly below: readonly (readonly number[])[];
  /** What each node weighs by itself. */
  readonly own: Float64Array;
}

/** Rows of the answer's own nodes; the way to the first of them is drawn above. */
export function layoutOf({ nodes }: FlameGraph): Layout {
  const size = nodes.parent.length;
  const whole = nodes.value[0] ?? 0;
  const begin = new Float64Array(size);
  const width = new Float64Array(size);
  const depth = new Uint32Array(size);
  const own = Float64Array.from(nodes.value);
  const next = new Float64Array(size);
  const rows: number[][] = [];
  const below: number[][] = nodes.parent.map(() => []);
  for (let node = 0; node < size; node += 1) {
    const parent = nodes.parent[node] ?? -1;
    const value = nodes.value[node] ?? 0;
    width[node] = whole > 0 ? value / whole : 1;
    if (parent >= 0) {
      begin[node] = next[parent] ?? 0;
      next[parent] = (next[parent] ?? 0) + (width[node] ?? 0);
      depth[node] = (depth[parent] ?? 0) + 1;
      own[parent] = (own[parent] ?? 0) - value;
      below[parent]?.push(node);
    }
    next[node] = begin[node] ?? 0;
    const row = depth[node] ?? 0;
    const nodesOfRow = rows[row] ?? [];
    if (nodesOfRow.length === 0) rows[row] = nodesOfRow;
    nodesOfRow.push(node);
  }
  for (let node = 0; node < size; node += 1) {
    if ((own[node] ?? 0) < (nodes.value[node] ?? 0) * ROUNDED) own[node] = 0;
  }
  return { begin, width, depth, rows, below, own };
}

/** Past 2⁵³ a value is rounded, and so is what is left of it: that is not the node's own. */
const ROUNDED = 1e-9;

/** The node of a row at a share of the width; null beside all of them. */
export function nodeAt(layout: Layout, row: number, share: number): number | null {
  const nodes = layout.rows[row];
  if (!nodes) return null;
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((layout.begin[nodes[middle] as number] as number) <= share) low = middle + 1;
    else high = middle;
  }
  const node = nodes[low - 1];
  if (node === undefined) return null;
  const end = (layout.begin[node] as number) + (layout.width[node] as number);
  return share < end ? node : null;
}

export type Step = "in" | "out" | "left" | "right";

/** Where an arrow key leads from a node; null where there is nothing. */
export function neighbour(
  layout: Layout,
  parent: readonly number[],
  node: number,
  step: Step,
): number | null {
  if (step === "in") return layout.below[node]?.[0] ?? null;
  const above = parent[node] ?? -1;
  if (step === "out") return above >= 0 ? above : null;
  const row = layout.rows[layout.depth[node] as number] ?? [];
  return row[row.indexOf(node) + (step === "left" ? -1 : 1)] ?? null;
}
