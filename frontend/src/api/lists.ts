/** Pages of the lists of a window: lives, operators, runs of modules. */

import type { AllocationRow } from "./allocations";

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
