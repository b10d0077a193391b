/** How the Trace view is arranged: panels, tracks, colours, bookmarks; a link carries it. */

import { signal } from "@preact/signals";
import type { Window } from "./view";

/** Panels from top to bottom, as they stand at first. */
export const PANELS = ["usage", "steps", "host", "device", "allocations"] as const;
export type PanelKey = (typeof PANELS)[number];

export interface Panel {
  readonly key: PanelKey;
  readonly isFolded: boolean;
  /** Pixels; null as it comes. */
  readonly height: number | null;
}

export const FIRST_PANELS: readonly Panel[] = PANELS.map((key) => ({
  key,
  isFolded: false,
  height: null,
}));

export const panels = signal<readonly Panel[]>(FIRST_PANELS);

/** What the colour of a span says: what kind it is, or the bytes that it allocated net. */
export type SpanColour = "kind" | "net";
export const spanColour = signal<SpanColour>("kind");

/** What is done with tracks, by their ids: those on top, those left out, those of one line. */
export const pinnedTracks = signal<readonly string[]>([]);
export const hiddenTracks = signal<readonly string[]>([]);
export const foldedTracks = signal<readonly string[]>([]);

/** What is searched for among spans. */
export const findSpan = signal("");

/** A moment or a window that was given a name. */
export interface Bookmark extends Window {
  readonly name: string;
}
export const bookmarks = signal<readonly Bookmark[]>([]);

/** A part of a panel that was drawn a frame around: a window of some tracks. */
export interface Area extends Window {
  readonly tracks: readonly string[];
}
export const area = signal<Area | null>(null);
/** Whether a drag over tracks selects an area instead of zooming. */
export const selects = signal(false);

/** What is listed under the panels, of which kind of spans, and in which order. */
export type LowerKey = "spans" | "steps";
export const lower = signal<LowerKey>("spans");
export const sumsKind = signal("op");
export const sumsSort = signal("-allocated");
export const findSum = signal("");
/** Steps that lie over each other, by the ids of their spans; null for the first ones. */
export const chosenSteps = signal<readonly string[] | null>(null);

/** `id` put in or taken out. */
export const toggled = (ids: readonly string[], id: string): readonly string[] =>
  ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id];
