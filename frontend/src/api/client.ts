/** Typed calls of the plugin's routes; every one can be aborted and fails with an ApiError in words. */

import { decodeBars, decodeCurve, type PlanBars, type PlanCurve } from "./bars";
import type { FlameGraph, Of, SourceCode, SourceLines } from "./flame";
import type { Pairs } from "./pairs";
import type { Compared, Plan, PlanBuffer, PlanNear, PlanNode } from "./plan";
import { decodePools, decodeSegments, type Pools, type SegmentState } from "./segments";
import type { SpanCard } from "./trace";
import type {
  AllocationCard,
  AllocationPage,
  Axis,
  Breakdown,
  EventPage,
  FreeAnswer,
  LivesPage,
  ModulesPage,
  OpenStatus,
  OperatorsPage,
  SourceList,
  Summary,
  Tracks,
} from "./types";
import { during } from "./underway";
import { decodeUsage, type Usage } from "./usage";

export type Parameters = Record<string, string | number | null | undefined>;

/** The server answered with an error, or did not answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** The one way a failed call is not worth telling anyone: it was called off. */
export const wasAborted = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

/** A route's address with its parameters, relative to the page as the platform demands. */
export function address(route: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
  }
  const text = query.toString();
  return text ? `./${route}?${text}` : `./${route}`;
}

/** Refusals come as a success with their status in here: a filter half typed is no error. */
const STATUS = "X-Memory-Status";

export async function call(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers: { ...init.headers, [STATUS]: "told here" } });
  } catch (error) {
    if (wasAborted(error)) throw error;
    throw new ApiError("TensorBoard does not answer.", 0);
  }
  const status = Number(response.headers.get(STATUS) ?? response.status);
  if (response.ok && status < 400) return response;
  throw new ApiError(await complaint(response), status);
}

async function complaint(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === "string") return error;
  } catch {
    // Not ours: a proxy or TensorBoard itself answered. The status says what we know.
  }
  return `The server answered ${response.status} ${response.statusText}.`.replace(" .", ".");
}

export const json = <T>(route: string, parameters: Parameters, signal?: AbortSignal): Promise<T> =>
  during(polled<T>(route, parameters, signal));

/** As `json`, of what is asked for again and again: the page does not count as busy with it. */
async function polled<T>(route: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
  const response = await call(address(route, parameters), signal ? { signal } : {});
  return (await response.json()) as T;
}

/** Names a version of a recording's content and the device in it that a question is about. */
export interface Target {
  source: string;
  version: string;
  device: string;
}

export interface UsageQuery extends Target {
  axis: Axis;
  begin: number | null;
  end: number | null;
  width: number;
  by: string;
  pattern: string;
  top: number;
  areas?: "groups" | "allocator";
}

export interface TracksQuery extends Target {
  axis: Axis;
  begin: number | null;
  end: number | null;
  width: number;
}

export interface HoleQuery extends Target {
  at: number;
  /** Bytes from the bottom of the picture by address, and bytes of a pixel. */
  place: number;
  pixel: number;
}

export interface BreakdownQuery extends Target {
  at: number | "peak";
  by: string;
  pattern: string;
  filter: string;
  sort: string;
  limit?: number;
}

export interface AllocationsQuery extends BreakdownQuery {
  key: string;
  offset?: number;
}

/** A window of the axis (all of it: null), and the order of what is listed of it. */
export interface ListQuery extends Target {
  axis: Axis;
  begin: number | null;
  end: number | null;
  sort: string;
  offset: number;
  limit: number;
}

export interface LivesQuery extends ListQuery {
  /** Only what is alive then, whatever the window. */
  at: number | "peak" | null;
  filter: string;
  minimum: number | null;
  maximum: number | null;
}

export interface OperatorsQuery extends ListQuery {
  find: string;
}

export interface ModulesQuery extends ListQuery {
  find: string;
  /** Only what runs then, whatever the window. */
  at: number | "peak" | null;
}

export interface SegmentsQuery extends Target {
  /** An event, or a time in ns: what another device was like then. */
  at: number | "peak" | `time:${number}`;
  /** Bytes under which blocks are merged. */
  pixel: number;
  begin?: number;
  end?: number;
  /** Grouping whose bands the blocks shall have. */
  by?: string;
  pattern?: string;
  /** Which blocks shall stand out. */
  filter?: string;
}

export interface EventsQuery extends Target {
  filter: string;
  offset: number;
  limit: number;
  near?: number;
  details?: 1;
}

export interface WeighQuery extends Target {
  of: Of;
  at: number | "peak" | null;
  axis: Axis | null;
  begin: number | null;
  end: number | null;
  filter: string;
}

/** A group that was picked, by its key and what it is one by; nothing where none was. */
export interface PickedQuery {
  by?: string;
  pattern?: string;
  top?: number;
  group?: string | null;
}

export interface FlameQuery extends WeighQuery, PickedQuery {
  /** Whether boxes shall have the group that all of them is of. */
  bands: 0 | 1;
  find: string;
  inverted: 0 | 1;
  folded: 0 | 1;
  root: string | null;
  width: number;
}

export const plain = (query: object): Parameters => ({ ...query }) as Parameters;

export const getSources = (signal?: AbortSignal): Promise<SourceList> =>
  polled("sources", {}, signal);

export const getOpen = (source: string, signal?: AbortSignal): Promise<OpenStatus> =>
  polled("open", { source }, signal);

/** Has the session of a source read in the background, or no longer. */
export const readSession = async (source: string, stop = false): Promise<void> => {
  await polled("read", { source, stop: stop ? 1 : null });
};

export const getSummary = (source: string, signal?: AbortSignal): Promise<Summary> =>
  json("summary", { source }, signal);

/** `match` is the id of another source that both are to be read and compared for. */
export const getPairs = (
  query: { source: string; match: string | null },
  signal?: AbortSignal,
): Promise<Pairs> => polled("pairs", query, signal);

export const getTracks = (query: TracksQuery, signal?: AbortSignal): Promise<Tracks> =>
  json("tracks", plain(query), signal);

export const getSpan = (query: Target & { id: string }, signal?: AbortSignal): Promise<SpanCard> =>
  json("span", plain(query), signal);

export const getBreakdown = (query: BreakdownQuery, signal?: AbortSignal): Promise<Breakdown> =>
  json("breakdown", plain(query), signal);

export const getAllocations = (
  query: AllocationsQuery,
  signal?: AbortSignal,
): Promise<AllocationPage> => json("allocations", plain(query), signal);

export const getLives = (query: LivesQuery, signal?: AbortSignal): Promise<LivesPage> =>
  json("lives", plain(query), signal);

export const getOperators = (query: OperatorsQuery, signal?: AbortSignal): Promise<OperatorsPage> =>
  json("operators", plain(query), signal);

export const getModules = (query: ModulesQuery, signal?: AbortSignal): Promise<ModulesPage> =>
  json("modules", plain(query), signal);

/** Where the browser itself downloads a list, whole. */
export type ListFile = "lives.csv" | "operators.csv" | "modules.csv" | "trace.sums.csv";

export const listFile = (
  file: ListFile,
  { offset: _offset, limit: _limit, ...query }: ListQuery,
): string => address(file, plain(query));

export const getAllocation = (
  source: string,
  version: string,
  id: string,
  signal?: AbortSignal,
  grouping: { by?: string; pattern?: string; device?: string } = {},
): Promise<AllocationCard> => json("allocation", { source, version, id, ...grouping }, signal);

export const getPlan = (query: Target, signal?: AbortSignal): Promise<Plan> =>
  json("plan", plain(query), signal);

export const getPlanBuffer = (
  query: Target & { id: string },
  signal?: AbortSignal,
): Promise<PlanBuffer> => json("plan.buffer", plain(query), signal);

export const getPlanNear = (
  query: Target & { instruction: string },
  signal?: AbortSignal,
): Promise<PlanNear> => json("plan.near", plain(query), signal);

export const getPlanTree = (
  query: Target & { at: number | "peak" },
  signal?: AbortSignal,
): Promise<PlanNode> => json("plan.tree", plain(query), signal);

export interface CompareQuery extends Target {
  other_source: string;
  other_version: string;
  other_device: string;
  by: string;
}

export const getCompared = (query: CompareQuery, signal?: AbortSignal): Promise<Compared> =>
  json("plan.compare", plain(query), signal);

/** Where the drawing of a plan is. */
export const drawingFile = (query: Target & { by: string; pattern: string; top: number }): string =>
  address("plan.svg", plain(query));

export const getPlanCurve = async (
  query: Target & { begin: number; end: number; width: number },
  signal?: AbortSignal,
): Promise<PlanCurve> => decodeCurve(await body("plan.curve", query, signal));

export const getPlanBars = async (
  query: Target & { at: number | "peak"; by?: string; pattern?: string; top?: number },
  signal?: AbortSignal,
): Promise<PlanBars> => decodeBars(await body("plan.bars", query, signal));

export const getHole = (query: HoleQuery, signal?: AbortSignal): Promise<FreeAnswer> =>
  json("hole", plain(query), signal);

export async function body(
  route: string,
  query: object,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const answer = async (): Promise<ArrayBuffer> =>
    (await call(address(route, plain(query)), signal ? { signal } : {})).arrayBuffer();
  return new Uint8Array(await during(answer()));
}

export const getUsage = async (query: UsageQuery, signal?: AbortSignal): Promise<Usage> =>
  decodeUsage(await body("usage", query, signal));

export const getSegments = async (
  query: SegmentsQuery,
  signal?: AbortSignal,
): Promise<SegmentState> => decodeSegments(await body("segments", query, signal));

export const getPools = async (query: TracksQuery, signal?: AbortSignal): Promise<Pools> =>
  decodePools(await body("pools", query, signal));

export const getEvents = (query: EventsQuery, signal?: AbortSignal): Promise<EventPage> =>
  json("events", plain(query), signal);

export const getFlame = (query: FlameQuery, signal?: AbortSignal): Promise<FlameGraph> =>
  json("flame", plain(query), signal);

export const getLines = (
  query: WeighQuery & PickedQuery & { limit: number },
  signal?: AbortSignal,
): Promise<SourceLines> => json("lines", plain(query), signal);

export const getCode = (
  query: { source: string; version: string; file: string; line: number },
  signal?: AbortSignal,
): Promise<SourceCode> => json("code", plain(query), signal);

/** Where the browser itself downloads a graph, whole, for another viewer. */
export const flameAddress = (
  file: "flame.speedscope.json" | "flame.folded.txt",
  { of, at, axis, begin, end, filter, inverted, folded, ...query }: FlameQuery,
): string => {
  const { source, version, device } = query;
  const weighed = { of, at, axis, begin, end, filter, inverted, folded };
  return address(file, { source, version, device, ...weighed });
};

/** Where the browser itself downloads the state at a moment, and the events that pass a filter. */
export const stateFile = (of: Target, at: number | "peak"): string =>
  address("segments.csv", { ...of, at });

export const eventsFile = (of: Target, filter: string): string =>
  address("events.csv", { ...of, filter });

/** Where the browser itself downloads a breakdown (or, with `key`, one group's allocations) as CSV. */
export const exportAddress = (query: BreakdownQuery & { key?: string }): string =>
  address("export.csv", plain(query));
