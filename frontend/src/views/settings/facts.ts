/** What a recording says of itself, made into sections of words. */

import type { Summary } from "../../api";
import { bytes, counted, date } from "../../format";

export interface Row {
  word: string;
  value: string;
}

export interface Section {
  title: string;
  rows: Row[];
  /** Said where there are no rows. */
  nothing: string;
}

const BASIS = {
  requested: "requested: what the program asked for",
  size: "size: what the allocator gave, rounded",
} as const;

/** Parts of `meta` that are said under a heading of their own, or elsewhere on the page. */
const APART = new Set(["allocator_settings", "versions", "source", "host", "rank", "pid", "clock"]);

export function sections(summary: Summary): Section[] {
  const { meta } = summary;
  return [
    { title: "Recording", rows: recording(summary), nothing: "" },
    {
      title: "Versions",
      rows: pairs(meta.versions),
      nothing: "The source says nothing of versions.",
    },
    {
      title: "Allocator settings",
      rows: allocator(meta.allocator_settings),
      nothing: "The source does not hold the allocator's settings.",
    },
    {
      title: "Everything else it says",
      rows: pairs(
        Object.fromEntries(
          Object.entries(meta)
            .filter(([key]) => !APART.has(key))
            .map(([key, said]) => [inWords(key), said]),
        ),
      ),
      nothing: "Nothing.",
    },
  ].filter(({ rows, nothing }) => rows.length > 0 || nothing !== "Nothing.");
}

function recording(summary: Summary): Row[] {
  const { meta } = summary;
  const known: [string, unknown][] = [
    ["run", summary.run],
    ["file", summary.name],
    ["format", inWords(summary.format)],
    ["bytes count as", BASIS[summary.basis]],
    ["being written", summary.live ? "yes" : null],
    ["begins", summary.time_origin_ns === null ? null : begin(summary.time_origin_ns, meta.clock)],
    ["host", meta.host],
    ["rank", meta.rank],
    ["process", meta.pid],
    ["source", meta.source === summary.name ? null : meta.source],
  ];
  const rows = known.flatMap(([word, value]) => row(word, value));
  for (const { name, capacity, events } of summary.devices) {
    const words = [
      capacity === null ? "capacity not recorded" : `${bytes(capacity)} of memory`,
      counted(events, "event"),
    ];
    rows.push({ word: name, value: words.join(", ") });
  }
  return rows;
}

/** Names of ours, not those of settings, which are looked up as they are. */
const inWords = (name: string): string => name.replaceAll("_", " ");

const begin = (ns: number, clock: unknown): string =>
  clock === "unix" ? date(ns) : `${ns}\u00a0ns of a clock that is not named`;

/** The entries of an object as rows, those that say nothing left out. */
export function pairs(value: unknown): Row[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([word, said]) => row(word, said));
}

type Say = (value: unknown) => string | null;

/** What bare numbers of the allocator mean; what is not as expected stays as it is. */
const ALLOCATOR: Readonly<Record<string, Say>> = {
  max_split_size: (value) =>
    typeof value !== "number" ? null : value < 0 ? "unlimited" : bytes(value),
  garbage_collection_threshold: (value) => {
    if (typeof value !== "number") return null;
    return value > 0 ? `from ${Math.round(100 * value)}\u00a0% of the limit on` : "off";
  },
  roundup_power2_divisions: (value) => {
    if (typeof value !== "object" || value === null) return null;
    const set = Object.entries(value).filter(([, parts]) => parts !== 0);
    // Its keys are MiB: a size from there on is rounded up to a part of its power of two.
    const said = set.map(([from, parts]) => `${bytes(Number(from) * 2 ** 20)}: ${parts}`);
    return said.join(", ") || "none";
  },
};

function allocator(settings: unknown): Row[] {
  if (typeof settings !== "object" || settings === null) return [];
  return Object.entries(settings).flatMap(([word, value]) =>
    row(word, ALLOCATOR[word]?.(value) ?? value),
  );
}

function row(word: string, value: unknown): Row[] {
  if (value === null || value === undefined || value === "") return [];
  return [{ word, value: words(value) }];
}

function words(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  return JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/^[[{] | [\]}]$/g, "");
}
