/** What the routes about stacks answer (docs/architecture.md, "Flame graphs"). */

import type { UsageGroup } from "./types";

/** What a stack weighs. `alive` is about a moment, the others about a window. */
export const WEIGHTS = ["alive", "highest", "lifetime", "allocations", "kept", "passing"] as const;
export type Of = (typeof WEIGHTS)[number];

export type Unit = "bytes" | "allocations" | "byte_ns" | "byte_events";

export type FrameKind = "own" | "library" | "folded" | "root" | "before" | "none" | "smaller";

export interface Moment {
  event: number;
  time: number | null;
  step: number | null;
}

/** What was weighed: common to the graph and to the table of lines. */
export interface Weighed {
  device: string;
  of: Of;
  unit: Unit;
  moment: Moment | null;
  window: { first: number; stop: number; begin: number; end: number };
  total: number;
  count: number;
}

/** Columns: names, each once. */
export interface FlameFrames {
  label: string[];
  function: (string | null)[];
  file: (string | null)[];
  line: (number | null)[];
  kind: FrameKind[];
  /** The search is about the frame itself. */
  hit: boolean[];
}

/** Columns: each node after its parent (-1 for the first), the largest sibling first. */
export interface FlameNodes {
  parent: number[];
  frame: number[];
  key: (string | null)[];
  value: number[];
  count: number[];
  /** How much of the value the search finds; absent without a search. */
  hit?: number[];
  /** How much of the value is of the group asked for; absent where none was, or there is none. */
  picked?: number[];
  /** The place in `groups` of the group that all of it is of, -1 of several; absent without `bands`. */
  band?: number[];
}

export interface FlameStep {
  frame: number;
  key: string;
  value: number;
  count: number;
}

export interface FlameGraph extends Weighed {
  found: { value: number; count: number } | null;
  /** What was grouped by, and the groups drawn by themselves, as of the chart. */
  by?: string;
  groups?: UsageGroup[];
  /** From the root to the first of `nodes`. */
  way: FlameStep[];
  nodes: FlameNodes;
  frames: FlameFrames;
}

export interface LineSums {
  made: number;
  made_count: number;
  through: number;
  through_count: number;
  /** How much of what went through is of the picked group; absent where none is. */
  picked?: number;
}

export interface SourceLine extends LineSums {
  line: number | null;
  function: string | null;
}

export interface SourceFile extends LineSums {
  file: string | null;
  library: boolean;
  lines: SourceLine[];
}

export interface SourceLines extends Weighed {
  nowhere: { label: string; value: number; count: number; picked?: number }[];
  files: SourceFile[];
  rest: { lines: number; made: number };
}

export interface SourceCode {
  file: string;
  line: number;
  first: number;
  lines: string[];
  changed: boolean | null;
}
