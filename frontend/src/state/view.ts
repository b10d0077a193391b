/** What all views share and a link carries: device, axis, window, cursor, grouping, selection. */

import { signal } from "@preact/signals";
import type { Of } from "../api/flame";
import type { Axis } from "../api/types";

/** A range of the axis: event ordinals or ns since the recording's origin. */
export interface Window {
  begin: number;
  end: number;
}

/** The one thing the inspector explains; a span is a step or an annotation. A group belongs to the grouping it was picked in. */
export type Selection =
  | { kind: "allocation"; id: string }
  | { kind: "span"; id: string }
  | { kind: "group"; by: string; key: string };

/** `alive` is alive at the cursor, `freed` freed in the recording, `never` not freed in it. */
export const ONLY = ["all", "alive", "freed", "never"] as const;
export type Only = (typeof ONLY)[number];

/** What the vertical means for an allocation: its turn, its address, a lane of its own. */
export const LAYOUTS = ["stacked", "address", "lane"] as const;
export type Layout = (typeof LAYOUTS)[number];

/** Key of the view shown; views register themselves (views/registry.ts). */
export const viewKey = signal("profile");
export const deviceKey = signal<string | null>(null);
export const axis = signal<Axis>("time");
/** Brushed range in units of `axis`; null shows everything. */
export const range = signal<Window | null>(null);
/** Ordinal that the breakdown is at; null is the peak. */
export const cursor = signal<number | null>(null);
/** Ordinal under the pointer, if any. Nothing but reading-outs may depend on it. */
export const hover = signal<number | null>(null);
export const by = signal("category");
/** What the user typed for grouping `pattern`. */
export const pattern = signal("");
export const selection = signal<Selection | null>(null);
/** What is searched for among allocations: hits stand out, nothing is left out. */
export const find = signal("");
/** Which allocations the picture of lives is made of, and from how many bytes on. */
export const only = signal<Only>("all");
export const minimum = signal(0);
export const layout = signal<Layout>("stacked");
/** Bytes that the picture of lives shows; null shows all of them. */
export const bytesRange = signal<Window | null>(null);
/** What stacks are weighed by. */
export const of = signal<Of>("alive");
/** How calls are shown: innermost frames first, library frames made one, growing upwards. */
export const inverted = signal(false);
export const folded = signal(true);
export const upwards = signal(false);
/** What the colour of a call says: whose code it is, which module's, or the group of what it weighs. */
export type CallColours = "code" | "module" | "group";
export const callColours = signal<CallColours>("code");
/** Key of the call that is looked into; null for all. */
export const call = signal<string | null>(null);
export const filter = signal("");
/** What of all events is listed. */
export const eventFilter = signal("");
/** What the colour of a block says: what its bytes are to the allocator, or its group. */
export const blocksBy = signal<"kind" | "group">("kind");
/** What the chart is divided into: groups, or stack, heap and free as the allocator reports them. */
export const AREAS = ["groups", "allocator"] as const;
export type Areas = (typeof AREAS)[number];
export const areas = signal<Areas>("groups");
/** What is listed under the chart. */
export const TABLES = [
  "breakdown",
  "operators",
  "allocations",
  "modules",
  "events",
  "tree",
  "compare",
] as const;
export type TableKey = (typeof TABLES)[number];
export const table = signal<TableKey>("breakdown");
/** Column and direction of the lists, as their routes take them. */
export const livesSort = signal("-bytes");
export const operatorsSort = signal("-self_increase");
export const modulesSort = signal("begin");
/** Whether only what is alive at the cursor is listed among allocations. */
export const aliveOnly = signal(false);
/** Bytes that an allocation has at least and at most to be listed; null leaves that open. */
export const least = signal<number | null>(null);
export const most = signal<number | null>(null);
/** What is searched for among operators. */
export const findOperator = signal("");
/** What is searched for among runs of HLO modules, and whether only those at the cursor are listed. */
export const findModule = signal("");
export const running = signal(false);
/** Column and direction of the breakdown, as the routes take it: `-bytes`, `count`, … */
export const sort = signal("-bytes");
