/** What the program did, as the routes `trace…` tell it; windows of it as typed arrays. */

import { tableFromIPC } from "@uwdata/flechette";
import { address, body, json, type ListQuery, plain, type Target } from "./client";
import type { AllocationRow, Level } from "./types";

/** A thread of the host, a stream of a device, or what is not drawn as a thread. */
export interface TraceTrack {
  id: string;
  name: string;
  kind: "host" | "device" | "modules" | "program";
  spans: number;
  /** How many events of memory happened on it. */
  events: number;
  begin: number;
  end: number;
  device: string | null;
  lanes: number;
}

export interface Trace {
  device: string;
  /** ns since the origin; null where there is nothing that has a time. */
  begin: number | null;
  end: number | null;
  tracks: TraceTrack[];
  hidden: number;
  kinds: string[];
  links: number;
  notes: string[];
}

/** Where a span is drawn, and what it is called. */
export interface TraceSpan {
  id: string;
  name: string;
  kind: string | null;
  track: string;
  depth: number;
  begin: number;
  end: number;
  /** Which end was not seen. */
  open: "begin" | "end" | null;
  step: number | null;
}

/** What memory did during one span; the events `first` … `stop` - 1 are within it. */
export interface SpanCard {
  id: string;
  device: string;
  kind: string;
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
  /** Whether `born`, `freed` and `kept` are what its own thread did; else what all did meanwhile. */
  on_thread: boolean;
  born: { count: number; bytes: number };
  freed: { count: number; bytes: number };
  kept: { count: number; bytes: number };
  /** The largest of what is kept. */
  left: AllocationRow[];
  place: TraceSpan;
  /** What the source says of it beyond name and time: shapes, types, streams, … */
  args: Record<string, unknown>;
  /** The spans around it, the outermost first. */
  inside: TraceSpan[];
  /** Those right below it, summed up by kind and name. */
  below: { found: number; calls: number; rows: SpanBelow[] };
  links: SpanLink[];
  hidden_links: number;
}

export interface SpanBelow {
  kind: string | null;
  name: string;
  calls: number;
  time: number;
  allocated: number;
  freed: number;
}

/** What led to a span (`from`), or what it led to. */
export interface SpanLink {
  kind: string;
  way: "from" | "to";
  span: TraceSpan;
}

/** Items of a window, lane after lane and in each in order of time. */
export interface TraceItems {
  /** ns since the origin, and how many a pixel stands for. */
  begin: number;
  end: number;
  pixel: number;
  /** Track and depth of each lane. */
  lanes: readonly (readonly [string, number])[];
  names: readonly string[];
  kinds: readonly string[];
  length: number;
  lane: Int32Array;
  /** Each item's ends, ns since the origin. */
  from: Float64Array;
  to: Float64Array;
  /** Id of the span, of several the longest. */
  span: Int32Array;
  count: Int32Array;
  /** Places in `kinds` and `names`; -1 without. */
  kind: Int32Array;
  name: Int32Array;
  /** Bytes allocated less bytes freed. */
  net: Float64Array;
  /** ns that they last together. */
  busy: Float64Array;
  /** How many are found; null where nothing is searched for. */
  hits: Int32Array | null;
}

export interface TraceQuery extends Target {
  begin: number;
  end: number;
  width: number;
  tracks: string;
  find: string;
}

export interface TraceFound {
  count: number;
  place: number | null;
  span: TraceSpan | null;
}

export interface TraceFindQuery extends Target {
  find: string;
  kind?: string;
  exactly?: 0 | 1;
  way: "next" | "previous" | "first" | "last";
  after?: string;
}

type About = Pick<TraceItems, "begin" | "end" | "pixel" | "lanes" | "names" | "kinds">;

/** Decodes the body of `trace.window`. Throws if it does not say what window it is of. */
export function decodeItems(bytes: Uint8Array): TraceItems {
  const table = tableFromIPC(bytes);
  const described = table.schema.metadata?.get("window");
  if (!described) throw new Error("The answer has no window in its metadata.");
  const about = JSON.parse(described) as About;
  const integers = (name: string) =>
    Int32Array.from(table.getChild(name).toArray() as ArrayLike<number>);
  const numbers = (name: string, base = 0) =>
    Float64Array.from(table.getChild(name).toArray() as ArrayLike<number>, (value) => base + value);
  const isSearched = table.schema.fields.some(({ name }) => name === "hits");
  return {
    ...about,
    length: table.numRows,
    lane: integers("lane"),
    from: numbers("begin", about.begin),
    to: numbers("end", about.begin),
    span: integers("span"),
    count: integers("count"),
    kind: integers("kind"),
    name: integers("name"),
    net: numbers("net"),
    busy: numbers("busy"),
    hits: isSearched ? integers("hits") : null,
  };
}

export const getTrace = (query: Target, signal?: AbortSignal): Promise<Trace> =>
  json("trace", plain(query), signal);

export const getTraceItems = async (query: TraceQuery, signal?: AbortSignal): Promise<TraceItems> =>
  decodeItems(await body("trace.window", query, signal));

export const getTraceFound = (query: TraceFindQuery, signal?: AbortSignal): Promise<TraceFound> =>
  json("trace.find", plain(query), signal);

export interface SumsQuery extends ListQuery {
  kind: string;
  find: string;
  /** Ids with commas between; empty for all. */
  tracks: string;
}

/** All calls of one name: what memory did in them, with what is inside of them and without (`self_…`). */
export interface SumRow {
  name: string;
  kind: string;
  calls: number;
  time: number;
  births: number;
  frees: number;
  allocated: number;
  freed: number;
  net: number;
  self_allocated: number;
  self_freed: number;
  self_net: number;
  /** By how much allocated rose at most within one of them. */
  peak: number;
  /** Bytes allocated per step. */
  steps: { count: number; least: number; median: number; most: number } | null;
  first: string;
}

export interface SumsPage {
  device: string;
  kind: string;
  kinds: string[];
  notes: string[];
  total: { names: number; calls: number; allocated: number; freed: number };
  usage: { before: number; after: number };
  outside: { allocated: number; freed: number } | null;
  found: number;
  offset: number;
  rows: SumRow[];
}

export const getSums = (query: SumsQuery, signal?: AbortSignal): Promise<SumsPage> =>
  json("trace.sums", plain(query), signal);

export interface StepSum extends TraceSpan {
  before: number;
  peak: number;
  after: number;
  allocated: number;
  freed: number;
}

/** Memory within a step: the most and the last of every pixel in which it changes, from its beginning on. */
export interface StepCurve {
  id: string;
  offset: number[];
  highest: number[];
  last: number[];
}

export interface TraceSteps {
  device: string;
  steps: StepSum[];
  hidden: number;
  pixel: number;
  /** ns of the longest of the curves. */
  longest: number;
  curves: StepCurve[];
}

export const getSteps = (
  query: Target & { steps: string; width: number },
  signal?: AbortSignal,
): Promise<TraceSteps> => json("trace.steps", plain(query), signal);

/** Where the browser itself downloads a window as a trace for Perfetto. */
export const traceFile = (
  query: Target & { begin: number; end: number; tracks?: string },
): string => address("trace.json", plain(query));
