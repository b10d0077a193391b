/** What the routes of the plugin answer (docs/architecture.md, "HTTP"). Bytes and times are integers. */

import type { PlanListed, Unplanned } from "./plan";

export type Axis = "time" | "event";
export type SourceState = "new" | "queued" | "reading" | "ready" | "error";

export interface Brief {
  events: number | null;
  steps: number | null;
  devices: number | null;
  /** HLO modules in it. */
  modules?: number | null;
  /** The highest peak of a device, which device that is, and how much it has. */
  peak_bytes: number | null;
  peak_device: string | null;
  capacity: number | null;
}

/** Recordings captured together: hosts of a capture, ranks of a job, modules of a dump. */
export interface Session {
  key: string;
  run: string;
  label: string;
  of: "host" | "rank" | "module";
}

export interface Source {
  id: string;
  run: string;
  name: string;
  format: string;
  bytes: number;
  modified_ns: number;
  state: SourceState;
  error: string | null;
  live: boolean;
  uploaded: boolean;
  /** Key of the session it is of, and who it is in there. */
  session: string | null;
  host: string | null;
  rank: number | null;
  brief: Brief | null;
}

export interface SourceList {
  scanning: boolean;
  logdirs: string[];
  sessions: Session[];
  sources: Source[];
  /** Whether the server was started so that it shows the code behind a line. */
  shows_code: boolean;
}

export interface OpenStatus {
  state: SourceState;
  fraction: number;
  phase: string;
  error: string | null;
  version: string | null;
}

export interface Grouping {
  key: string;
  label: string;
}

export interface Missing {
  what: string;
  why: string;
  remedy: string | null;
}

export interface OutOfMemory {
  event: number;
  time: number | null;
  requested: number | null;
  device_free: number | null;
}

/** What XLA's or TensorFlow's allocator itself said of its peak, the most of stack + heap. */
export interface AllocatorSaid {
  peak: number;
  event: number;
  time: number | null;
  step: number | null;
  stack: number | null;
  heap: number;
  free: number | null;
  /** Of the free list. */
  fragmentation: number | null;
  lifetime_peak: number | null;
}

export interface Device {
  key: string;
  name: string;
  capacity: number | null;
  events: number;
  begin_time: number | null;
  end_time: number | null;
  default_grouping: string;
  allocs: number;
  frees: number;
  allocated_start: number;
  allocated_end: number;
  allocated_peak: number;
  peak_event: number;
  peak_time: number | null;
  peak_step: number | null;
  reserved_start: number | null;
  reserved_end: number | null;
  reserved_peak: number | null;
  reserved_at_peak: number | null;
  blocks_before_window: number | null;
  bytes_before_window: number | null;
  /** How many of those blocks stand for nobody knows how many: only their sum is known. */
  sums_before_window: number;
  allocator: AllocatorSaid | null;
  /** What the allocator tells apart: `stack`, `heap`, `free`. */
  areas: string[];
  /** Whether every allocation's address is known, and whether any segment ever is. */
  addresses: boolean;
  segments: boolean;
  lifetime_peak: number | null;
  oom: OutOfMemory[];
  oom_count: number;
  steps: number;
  /** Runs of HLO modules on it, or, where none is known to be, on any. */
  modules: number;
}

export interface Summary {
  version: string;
  format: string;
  basis: "requested" | "size";
  run: string;
  name: string;
  time_origin_ns: number | null;
  /** The same to the nanosecond, which a number cannot tell. */
  time_origin: string | null;
  live: boolean;
  problems: string[];
  missing: Missing[];
  groupings: Grouping[];
  axes: Axis[];
  meta: Record<string, unknown>;
  devices: Device[];
  plans: PlanListed[];
  /** HLO modules without any plan, the first by name and why. */
  unplanned?: { count: number; modules: Unplanned[] };
}

export interface UsageGroup {
  key: string;
  label: string;
  category?: string;
  /** Where it is among its like, 0 (least) to 1, for what has an order. */
  shade?: number;
}

/** Metadata `window` of the usage answer. */
export interface UsageWindow {
  axis: Axis;
  begin: number;
  end: number;
  bin: number;
  by: string;
  groups: UsageGroup[];
  has_reserved: boolean;
  /** Areas that the allocator tells apart; by `area` the groups are these. */
  areas: string[];
  /** Whether the allocator says how fragmented its free list is. */
  has_fragmentation: boolean;
}

export interface TrackItem {
  /** Of one; where several were merged, of the longest. */
  id: string;
  name: string;
  begin: number;
  end: number;
  count: number;
  begin_event: number | null;
  end_event: number | null;
  /** ns since the origin, on either axis; null where that was not seen. */
  begin_time: number | null;
  end_time: number | null;
  open: "begin" | "end" | null;
  depth?: number;
  /** Where a module ran, as the source calls it. */
  on?: string | null;
}

export interface Mark {
  kind: string;
  event: number | null;
  time: number | null;
  text: string | null;
}

export interface Tracks {
  steps: TrackItem[];
  /** Runs of HLO modules. */
  modules: TrackItem[];
  annotations: TrackItem[];
  marks: Mark[];
  hidden: number;
}

/** A moment and what was allocated at it. */
export interface Level {
  event: number;
  time: number | null;
  allocated: number;
}

/** What memory did during one step, module or annotation; the events `first` … `stop` - 1 are within it. */
export interface SpanCard {
  id: string;
  device: string;
  kind: "step" | "annotation" | "hlo_module";
  name: string;
  track: string | null;
  step: number | null;
  begin: number | null;
  end: number | null;
  first: number;
  stop: number;
  before: Level;
  after: Level;
  peak: Level;
  born: { count: number; bytes: number };
  kept: { count: number; bytes: number };
}

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

/** One life in the list of all. */
export interface LifeRow extends AllocationRow {
  /** ns; null where an end of it is not known. */
  duration: number | null;
  /** It stands for nobody knows how many blocks. */
  sum: boolean;
  /** The line that it comes from, of a plan's buffer. */
  where?: string | null;
}

/** Lives of a window, or at a moment: how many there are in all, and a page of them. */
export interface LivesPage {
  device: string;
  /** The event that they are alive after, where that was asked for. */
  at: number | null;
  total_count: number;
  total_bytes: number;
  sums: number;
  offset: number;
  rows: LifeRow[];
}

/** What an operator did to memory in a window; null is not known. */
export interface OperatorRow {
  /** Null: outside any operator, or of none that is known. */
  op: string | null;
  label: string;
  calls: number | null;
  count: number | null;
  self_count: number;
  bytes: number | null;
  self_bytes: number;
  increase: number | null;
  self_increase: number;
  peak: number;
}

export interface OperatorsPage {
  device: string;
  /** Allocated before the window and after it. */
  before: number;
  after: number;
  /** Whether a free is told where it happened; else it is of who made the allocation. */
  freed_where: boolean;
  /** What is not told, and why. */
  notes: string[];
  total: { operators: number; count: number; frees: number; bytes: number; increase: number };
  found: number;
  offset: number;
  rows: OperatorRow[];
}

/** A run of an HLO module; times in ns, null where that was not seen or is not known. */
export interface ModuleRow {
  id: string;
  /** 64 bits without a sign, as text. */
  program: string | null;
  name: string;
  /** The device that it ran on, or a stream of it. */
  on: string;
  begin: number | null;
  end: number | null;
  duration: number | null;
  begin_event: number | null;
  end_event: number | null;
  /** Allocated on the device shown when it began, and at most while it ran. */
  before: number | null;
  peak: number | null;
}

export interface ModulesPage {
  device: string;
  /** The event that they run at, where that was asked for. */
  at: number | null;
  notes: string[];
  all: number;
  found: number;
  /** How many modules and devices those that are found are of. */
  modules: number;
  devices: number;
  offset: number;
  rows: ModuleRow[];
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
}

/** One event of a device's history. */
export interface EventRow {
  event: number;
  time: number | null;
  action: string;
  address: string | null;
  size: number | null;
  stream: string | null;
  pool: string | null;
  label: string | null;
  allocation: string | null;
  compile_context: string | null;
  user_metadata: string | null;
  /** Where it was asked for. */
  about?: EventAbout;
}

/** What is known of the allocation that an event is about, and of the moment. */
export interface EventAbout {
  requested: number | null;
  size: number | null;
  name: string | null;
  category: string | null;
  op: string | null;
  module: string | null;
  region: string | null;
  dtype: string | null;
  shape: string | null;
  step: number | null;
  /** On the device, after it. */
  allocated: number;
  reserved: number | null;
}

export interface EventPage {
  device: string;
  /** All events of the device, and how many pass the filter. */
  events: number;
  count: number;
  offset: number;
  rows: EventRow[];
  near?: { event: number; row: number; passes: boolean };
}
