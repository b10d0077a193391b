/** The stack of what is selected, found again among the boxes of the graph. */

import type { FlameGraph, Frame } from "../../api";
import type { Layout } from "./layout";

/** Shorter runs of library frames are not folded. */
const FOLDED_FROM = 2;

/**
 * The nodes that `stack` (innermost frame first) goes through, from the first of the graph on; none
 * where it does not go through the frame that is looked into.
 */
export function nodesOf(
  graph: FlameGraph,
  layout: Layout,
  stack: readonly Frame[],
  inverted: boolean,
): number[] {
  const frames = inverted ? [...stack] : [...stack].reverse();
  const walk = new Walk(graph, frames);
  for (const { frame } of graph.way.slice(1)) {
    if (!walk.take(frame)) return [];
  }
  const nodes = [0];
  for (;;) {
    const below = layout.below[nodes[nodes.length - 1] as number] ?? [];
    // A frame of its own is looked for before a fold that might hold it.
    const next =
      below.find((node) => walk.take(graph.nodes.frame[node] as number, false)) ??
      below.find((node) => walk.take(graph.nodes.frame[node] as number));
    if (next === undefined) return nodes;
    nodes.push(next);
  }
}

/** The nodes that hold any of the picked group, but for the first, which all of it is in. */
export const pickedNodes = ({ nodes }: FlameGraph): number[] =>
  (nodes.picked ?? []).flatMap((value, node) => (node > 0 && value > 0 ? [node] : []));

/** A place in a stack, moved on by the frames and folds of the graph. */
class Walk {
  private at = 0;

  constructor(
    private readonly graph: FlameGraph,
    private readonly stack: readonly Frame[],
  ) {}

  /** Moves on over `frame`, if the stack goes on with it; over folds only where told so. */
  take(frame: number, folds = true): boolean {
    const { kind } = this.graph.frames;
    if (kind[frame] === "folded") return folds && this.takeRun();
    const next = this.stack[this.at];
    if (next === undefined || !this.isSame(frame, next)) return false;
    this.at += 1;
    return true;
  }

  private takeRun(): boolean {
    let end = this.at;
    while (this.stack[end]?.library) end += 1;
    if (end - this.at < FOLDED_FROM) return false;
    this.at = end;
    return true;
  }

  private isSame(frame: number, { function: name, file, line }: Frame): boolean {
    const { frames } = this.graph;
    return (
      frames.function[frame] === name && frames.file[frame] === file && frames.line[frame] === line
    );
  }
}
