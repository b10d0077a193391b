/** What the route `pairs` answers: which other sources are of the same process. */

/** How well two sources are known to be of one process; times in ns. */
export interface Match {
  snapshot: string;
  trace: string;
  trace_format: string;
  /** Births and frees that are in both. */
  matched: number;
  /** Of those in the time that both have, 0 to 1. */
  snapshot_share: number;
  trace_share: number;
  /** What the snapshot's clock shows more. */
  offset_ns: number;
  drift_ppm: number;
  residual_ns: { median: number; p95: number };
  certain: boolean;
}

export type PairState = "unread" | "reading" | "matching" | "matched" | "different" | "error";

export interface Proposed {
  /** Ids: of the pair as a source, and of both sources. */
  pair: string;
  snapshot: string;
  trace: string;
  state: PairState;
  fraction: number;
  error: string | null;
  match: Match | null;
}

export interface Pairs {
  source: string;
  hidden: number;
  pairs: Proposed[];
}

/** What a source is put together of. */
export interface Pair {
  snapshot: string;
  trace: string;
  shift_ns: number | null;
}

/** What the summary of a pair says of it beside the match; without a match only what was asked. */
export interface PairTold extends Partial<Match> {
  shift_ns?: number | null;
  /** Labels that were taken over from the trace, and spans that both had. */
  labels?: number;
  doubles?: number;
  /** Whether the stacks are those of the trace. */
  stacks?: boolean | number;
  left_out?: { device: string; events: number; whole: boolean }[];
}
