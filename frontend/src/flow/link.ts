/** The state of the page as text in TensorBoard's address: `#memory&p.memory.run=…`. */

import { type Of, WEIGHTS } from "../api/flame";
import {
  AREAS,
  type Areas,
  LAYOUTS,
  type Layout,
  ONLY,
  type Only,
  type Selection,
  TABLES,
  type TableKey,
  type Window,
} from "../state/view";
import type { TraceWords } from "./traceLink";

export const PLUGIN = "memory";
const PREFIX = `p.${PLUGIN}.`;

/** Everything a link restores. A source goes by run and name: ids change with the server. */
export interface Link extends TraceWords {
  run?: string;
  source?: string;
  /** The name of the trace that it is put together with, and its run where that is another one. */
  with?: string;
  withRun?: string;
  /** The ns that the spans of that are shown later. */
  shift?: number;
  view?: string;
  device?: string;
  axis?: "time" | "event";
  window?: Window;
  at?: number;
  by?: string;
  pattern?: string;
  selection?: Selection;
  filter?: string;
  events?: string;
  sort?: string;
  find?: string;
  only?: Only;
  minimum?: number;
  layout?: Layout;
  bytes?: Window;
  of?: Of;
  calls?: CallsWord[];
  call?: string;
  blocks?: "group";
  areas?: Areas;
  table?: TableKey;
  livesSort?: string;
  operatorsSort?: string;
  modulesSort?: string;
  least?: number;
  most?: number;
  operator?: string;
  module?: string;
  running?: "cursor";
  alive?: "cursor";
}

/** How calls are shown, where that is not as it starts. */
export const CALLS = ["inverted", "unfolded", "upwards", "modules", "groups"] as const;
export type CallsWord = (typeof CALLS)[number];

type Words = Partial<Record<string, string>>;

const integer = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^-?\d{1,16}$/.test(text)) return undefined;
  return Number(text);
};

/** The columns of the table: another has no header that could be clicked to be rid of it. */
const SORTS = /^-?(label|bytes|count|largest|oldest)$/;

/** What lists can be sorted by: the server knows the columns. */
const LIST_SORTS = /^-?[a-z_]{1,20}$/;

/** An event, or -1 for before the first. */
const momentOf = (text: string | undefined): number | undefined => {
  const event = integer(text);
  return event !== undefined && event >= -1 ? event : undefined;
};

const bytesOf = (text: string | undefined): number | undefined => {
  const bytes = integer(text);
  return bytes !== undefined && bytes >= 0 ? bytes : undefined;
};

/** What of a link is ours, as plain words. Anything that is not understood is left out. */
function wordsOf(hash: string): Words {
  const found: Words = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const cut = part.indexOf("=");
    if (cut < 0 || !part.startsWith(PREFIX)) continue;
    found[part.slice(PREFIX.length, cut)] = decoded(part.slice(cut + 1));
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a hand-made link with a bare percent sign
  }
}

const windowOf = (text: string | undefined): Window | undefined => {
  const [begin, end] = (text ?? "").split("..").map(integer);
  return begin !== undefined && end !== undefined && begin < end ? { begin, end } : undefined;
};

function callsOf(text: string | undefined): CallsWord[] | undefined {
  const given = (text ?? "").split(".");
  const found = CALLS.filter((word) => given.includes(word));
  return found.length > 0 ? found : undefined;
}

function selectionOf(words: Words): Selection | undefined {
  if (words.allocation) return { kind: "allocation", id: words.allocation };
  if (words.span) return { kind: "span", id: words.span };
  if (words.group !== undefined && words.groupby)
    return { kind: "group", by: words.groupby, key: words.group };
  return undefined;
}

export const readHash = (hash: string): Link => fromWords(wordsOf(hash));

/** A link from words that TensorBoard itself has split (its IPC hands them over like this). */
export function fromWords(words: Words): Link {
  const link: { [K in keyof Link]: Link[K] | undefined } = {
    run: words.run,
    source: words.source,
    with: words.with,
    withRun: words.withrun,
    shift: integer(words.shift),
    view: words.view,
    device: words.device,
    axis: words.axis === "time" || words.axis === "event" ? words.axis : undefined,
    window: windowOf(words.window),
    at: momentOf(words.at),
    by: words.by,
    pattern: words.pattern,
    selection: selectionOf(words),
    filter: words.filter,
    events: words.events,
    sort: SORTS.test(words.sort ?? "") ? words.sort : undefined,
    find: words.find,
    only: ONLY.find((known) => known === words.only),
    minimum: bytesOf(words.minimum),
    layout: LAYOUTS.find((known) => known === words.layout),
    bytes: windowOf(words.bytes),
    of: WEIGHTS.find((known) => known === words.of),
    calls: callsOf(words.calls),
    blocks: words.blocks === "group" ? "group" : undefined,
    areas: AREAS.find((known) => known === words.areas),
    table: TABLES.find((known) => known === words.table),
    livesSort: LIST_SORTS.test(words.lives ?? "") ? words.lives : undefined,
    operatorsSort: LIST_SORTS.test(words.operators ?? "") ? words.operators : undefined,
    modulesSort: LIST_SORTS.test(words.modules ?? "") ? words.modules : undefined,
    least: bytesOf(words.least),
    most: bytesOf(words.most),
    operator: words.operator,
    module: words.module,
    running: words.running === "cursor" ? "cursor" : undefined,
    alive: words.alive === "cursor" ? "cursor" : undefined,
    panels: words.panels,
    tracks: words.tracks,
    colours: words.colours === "net" ? "net" : undefined,
    spans: words.spans,
    marks: words.marks,
    lower: words.lower === "steps" ? "steps" : undefined,
    sums: words.sums,
    steps: words.steps,
    area: words.area,
    call: /^[0-9a-f]{16}$/.test(words.call ?? "") ? words.call : undefined,
  };
  for (const key of Object.keys(link) as (keyof Link)[]) {
    if (link[key] === undefined) delete link[key];
  }
  return link as Link;
}

function toWords(link: Link): Words {
  const words: Words = {};
  const put = (key: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== "") words[key] = String(value);
  };
  put("run", link.run);
  put("source", link.source);
  put("with", link.with);
  put("withrun", link.withRun);
  put("shift", link.shift);
  put("view", link.view);
  put("device", link.device);
  put("axis", link.axis);
  if (link.window) put("window", `${link.window.begin}..${link.window.end}`);
  put("at", link.at);
  put("by", link.by);
  put("pattern", link.pattern);
  if (link.selection?.kind === "allocation") put("allocation", link.selection.id);
  if (link.selection?.kind === "span") put("span", link.selection.id);
  if (link.selection?.kind === "group") {
    put("groupby", link.selection.by);
    words.group = link.selection.key;
  }
  put("filter", link.filter);
  put("events", link.events);
  put("sort", link.sort);
  put("find", link.find);
  put("only", link.only);
  put("minimum", link.minimum);
  put("layout", link.layout);
  put("of", link.of);
  put("calls", link.calls?.join("."));
  put("call", link.call);
  put("blocks", link.blocks);
  put("areas", link.areas);
  put("table", link.table);
  put("lives", link.livesSort);
  put("operators", link.operatorsSort);
  put("modules", link.modulesSort);
  put("least", link.least);
  put("most", link.most);
  put("operator", link.operator);
  put("module", link.module);
  put("running", link.running);
  put("alive", link.alive);
  put("panels", link.panels);
  put("tracks", link.tracks);
  put("colours", link.colours);
  put("spans", link.spans);
  put("marks", link.marks);
  put("lower", link.lower);
  put("sums", link.sums);
  put("steps", link.steps);
  put("area", link.area);
  if (link.bytes) put("bytes", `${link.bytes.begin}..${link.bytes.end}`);
  return words;
}

/** `hash` with our words replaced by those of `link`; what belongs to others stays as it is. */
export function writeHash(hash: string, link: Link): string {
  const parts = hash.replace(/^#/, "").split("&");
  const others = parts.filter((part) => part !== "" && !part.startsWith(PREFIX));
  const [tab] = others;
  if (tab === undefined || tab.includes("=")) others.unshift(PLUGIN);
  const ours = Object.entries(toWords(link)).map(
    ([key, value]) => `${PREFIX}${key}=${encodeURIComponent(value ?? "")}`,
  );
  return `#${[...others, ...ours].join("&")}`;
}
