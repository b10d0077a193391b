/** What the routes of the chart answer: groups, steps, modules, annotations, marks, events. */

import type { Axis } from "./recordings";

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
