/** What all views share and a link carries: device, axis, window, cursor, grouping, selection. */

import { signal } from "@preact/signals";
import type { Axis } from "../api/types";

/** A range of the axis: event ordinals or ns since the recording's origin. */
export interface Window {
  begin: number;
  end: number;
}

/** The one thing the inspector explains. A group belongs to the grouping it was picked in. */
export type Selection =
  | { kind: "allocation"; id: string }
  | { kind: "group"; by: string; key: string };

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
export const filter = signal("");
/** Column and direction of the breakdown, as the routes take it: `-bytes`, `count`, … */
export const sort = signal("-bytes");
