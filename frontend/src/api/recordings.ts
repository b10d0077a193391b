/** What the routes about sources, and about a recording as a whole, answer. */

import type { Pair } from "./pairs";
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
  /** What it is put together of; of a single source null. */
  pair?: Pair | null;
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
