/** What the routes of the compiler's plans answer, in the words of docs/architecture.md. */

import type { TraceSpan } from "./trace";
import type { Device, Grouping } from "./types";

/** An HLO module's plan for one memory space, as lists name it. */
export interface PlanListed {
  key: string;
  module: string;
  program: string;
  space: string;
  peak: number;
  total: number;
  events: number;
  compiler_peak: number;
}

/** An HLO module that holds no plan, and why. */
export interface Unplanned {
  module: string;
  program: string;
  why: string;
}

/** A finding: what is so, what to do, the bytes it is about, and some of the allocations. */
export interface Advice {
  kind: string;
  bytes: number;
  says: string;
  cure: string;
  count: number;
  ids: string[];
}

/** Buffers of a framework op, or of one instruction without one, and what of them is padding. */
export interface PaddingCause {
  op: string | null;
  /** Of the buffer with most of it, and that one's id. */
  instruction: string | null;
  bytes: number;
  count: number;
  id: string;
}

export interface PlanOverview {
  key: string;
  module: string;
  program: string;
  space: string;
  platform: string | null;
  events: number;
  peak: number;
  unpadded_peak: number;
  peak_event: number;
  total: number;
  /** Of temporary allocations that no heap trace is of: held all the time. */
  untraced: number;
  fragmentation: number;
  parameter: number;
  output: number;
  constant: number;
  temporary: number;
  aliased: number;
  /** What of the peak is not held for the program's arguments, outputs and constants. */
  temporary_at_peak: number;
  /** Buffers at the peak that are padded, and the operations that cause most of it. */
  padded: { count: number; causes: PaddingCause[] };
  compiler_peak: number;
  /** Why that is another than the peak. */
  differs: string[];
  scoped: { bytes: number; instruction: string } | null;
  problems: string[];
  advice: Advice[];
  spaces: { key: string; space: string; peak: number }[];
}

/** A plan as of any device, and its overview. */
export interface Plan {
  groupings: Grouping[];
  device: Device;
  overview: PlanOverview;
}

export interface PlanInstruction {
  /** What `plan.near` is asked with. */
  row: string;
  name: string | null;
  opcode: string | null;
  shape: string | null;
  bytes: number | null;
  position: number | null;
  op: string | null;
  /** Ids of allocations that it makes. */
  ids: string[];
}

/** An instruction, and who it takes from and gives to. */
export interface PlanNear {
  /** Null where a buffer's is not in the module. */
  instruction: PlanInstruction | null;
  operands: PlanInstruction[];
  users: PlanInstruction[];
}

export interface PlanBuffer extends PlanNear {
  id: number | null;
  opcode: string | null;
  shape: string | null;
  bytes: number;
  unpadded_bytes: number;
  /** Bytes in its allocation, and from the bottom of the memory space. */
  offset: number;
  place: number;
  birth: number | null;
  death: number | null;
  kind: string | null;
  framework_op: string | null;
  allocation: {
    index: number;
    size: number;
    parameter: number | null;
    parameter_index: string | null;
    is_output: boolean;
  } | null;
  sharing: PlanInstruction[];
  /** How often its instruction ran, and the first time; null where the recording does not say. */
  ran: { count: number; device: string; span: TraceSpan } | null;
}

/** Buffers by what the framework calls them. */
export interface PlanNode {
  name: string;
  bytes: number;
  padding: number;
  count: number;
  /** Of a single allocation; null where it stands for several. */
  id: string | null;
  /** Of that one, events; null before the first, and to the end. */
  birth: number | null;
  death: number | null;
  children: PlanNode[];
}

/** Bytes and buffers of two plans at their peaks. */
export interface ComparedSums {
  bytes: number;
  count: number;
  other_bytes: number;
  other_count: number;
}

/** What of two plans is called alike. */
export interface ComparedRow extends ComparedSums {
  label: string;
}

/** All of both, row by row, and what is beyond the rows. */
export interface Compared extends ComparedSums {
  by: string;
  rows: ComparedRow[];
  left_out: ComparedSums & { labels: number };
}
