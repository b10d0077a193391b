/** What the routes about a moment answer, and about allocations one by one. */

import type { TraceSpan } from "./trace";
export interface Frame {
  function: string;
  file: string;
  line: number | null;
  library: boolean;
}

export interface BreakdownGroup {
  key: string;
  label: string;
  bytes: number;
  count: number;
  /** How many of them stand for nobody knows how many blocks. */
  sums: number;
  largest: number;
  oldest_step: number | null;
  oldest_event: number | null;
  oldest_time: number | null;
  category?: string;
  shade?: number;
  frames?: Frame[];
}

export interface Breakdown {
  device: string;
  event: number;
  time: number | null;
  step: number | null;
  total_bytes: number;
  total_count: number;
  sums: number;
  reserved: number | null;
  groups: BreakdownGroup[];
  rest: { groups: number; bytes: number; count: number } | null;
}

export interface AllocationRow {
  id: string | number;
  requested: number | null;
  size: number | null;
  category: string | null;
  name: string | null;
  op: string | null;
  module: string | null;
  region: string | null;
  dtype: string | null;
  shape: string | null;
  /** What the program was doing; of a plan's buffer the opcode. */
  annotation: string | null;
  step: number | null;
  birth: number | null;
  death: number | null;
  birth_time: number | null;
  death_time: number | null;
  address: string | null;
  label: string;
}

export interface AllocationPage {
  total_count: number;
  total_bytes: number;
  rows: AllocationRow[];
}

export interface Siblings {
  count: number;
  bytes: number;
  alive_at_peak: number;
  ids: (string | number)[];
}

export interface Segment {
  address: string | null;
  size: number | null;
  kind: string | null;
  expandable: boolean | null;
  birth: number | null;
  death: number | null;
}

/** A part of a segment: addresses side by side, and where they are in the picture by address. */
export interface Part {
  address: string;
  place: number;
  size: number;
  segment: { address: string; size: number; free: number };
}

/** What is free in a pixel of the picture by address after an event. */
export interface FreeAnswer {
  event: number;
  /** Free ranges in the pixel; `hole` is the one that has most of it. */
  holes: number;
  hole: Part | null;
  /** Where nothing is free, the block that has most of the pixel. */
  block: (Part & { requested: number; allocation: string }) | null;
}

/** Guesses at a shape, from the sizes that recur in the recording; the likeliest first. */
export interface Guesses {
  shapes: { dimensions: number[]; width: number }[];
  multiples: { times: number; bytes: number; count: number }[];
}

export interface AllocationCard extends AllocationRow {
  device: string;
  /** The rounding of a block that is gone is worked out, not recorded. */
  size_inferred: boolean;
  category_inferred: boolean;
  free_requested: number | null;
  stream: string | null;
  pool: string | null;
  segment: Segment | null;
  compile_context: string | null;
  user_metadata: string | null;
  before_window: boolean;
  birth_stack: Frame[] | null;
  death_stack: Frame[] | null;
  forward_stack: Frame[] | null;
  siblings: Siblings | null;
  /** What its size may be, where no shape is known. */
  guesses: Guesses | null;
  /** Where it is in the grouping that was asked for. */
  group: { by: string; key: string } | null;
  /** The innermost spans that it was made and freed in; null where nobody knows. */
  made_in: TraceSpan | null;
  freed_in: TraceSpan | null;
  /** The last that is known to use it: `made`, or the kind of the link that tells. */
  last_use: { span: TraceSpan; why: string } | null;
  /** What began after that and before the free. */
  between: {
    begin: number;
    end: number;
    found: number;
    calls: number;
    rows: { kind: string | null; name: string; calls: number; time: number }[];
  } | null;
}
