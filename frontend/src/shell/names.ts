/** Words for a source in the list: its title and the line of facts under it. */

import type { Brief, Source } from "../api";
import { bytes, counted } from "../format";
import type { Entry } from "./entries";

const FORMATS: Readonly<Record<string, string>> = {
  native: "recorded",
  torch_profiler: "recorded",
  torch_snapshot: "snapshot",
  kineto_trace: "profiler trace",
  xplane: "XPlane",
  hlo: "HLO",
  memory_timeline: "memory timeline",
  jax_pprof: "JAX pprof",
};

export const formatWord = (format: string): string =>
  FORMATS[format] ?? format.replaceAll("_", " ");

/** A run named "." is the logdir itself: its files go by their own names. */
export const runName = (run: string): string => (run === "." ? "" : run);

function briefWords(brief: Brief): string[] {
  const words: string[] = [];
  if (brief.events) words.push(counted(brief.events, "event"));
  if (brief.steps) words.push(counted(brief.steps, "step"));
  if (brief.modules) words.push(counted(brief.modules, "HLO module"));
  else if (brief.events === 0) words.push("no history");
  if (brief.devices && brief.devices > 1) words.push(counted(brief.devices, "device"));
  return words;
}

/** `snapshot · 22 332 events · 2 steps`; a source not read yet is known by its size. */
export function factsLine(source: Source): string {
  const words = [source.pair ? "snapshot and trace" : formatWord(source.format)];
  if (source.brief) words.push(...briefWords(source.brief));
  if (!source.brief || words.length === 1) words.push(bytes(source.bytes));
  return words.join(" · ");
}

export interface Run {
  run: string;
  entries: Entry[];
}

/** Entries under their runs, runs in reading order (run-2 before run-10), the newest entry first. */
export function byRun(entries: readonly Entry[]): Run[] {
  const runs = new Map<string, Entry[]>();
  for (const entry of entries) {
    const run = runName(entry.run);
    runs.set(run, [...(runs.get(run) ?? []), entry]);
  }
  const order = new Intl.Collator(undefined, { numeric: true });
  return [...runs]
    .map(([run, members]) => ({
      run,
      entries: members.sort(
        (a, b) => b.modified_ns - a.modified_ns || order.compare(a.name, b.name),
      ),
    }))
    .sort((a, b) => order.compare(a.run, b.run));
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Whether `whole` holds every word of `text`. */
export function holds(whole: string, text: string): boolean {
  const searched = whole.toLowerCase();
  return wordsOf(text).every((word) => searched.includes(word));
}

/** Entries whose run, name or format, or a host of theirs, holds every word of `text`. */
export const matching = (entries: readonly Entry[], text: string): Entry[] =>
  entries.filter(({ run, name, sources }) => {
    const hosts = sources.map((one) => `${one.run}/${one.name} ${formatWord(one.format)}`);
    return [`${run}/${name}`, ...hosts].some((whole) => holds(`${run}/${name} ${whole}`, text));
  });

/** The newest `most` of the entries and how many that leaves out; the chosen one is never left out. */
export function atMost(
  entries: readonly Entry[],
  most: number,
  chosen: string | null,
): { shown: Entry[]; hidden: number } {
  if (entries.length <= most) return { shown: [...entries], hidden: 0 };
  const rank = ({ sources, modified_ns }: Entry): number =>
    sources.some(({ id }) => id === chosen) ? Number.POSITIVE_INFINITY : modified_ns;
  const shown = [...entries].sort((a, b) => rank(b) - rank(a)).slice(0, most);
  return { shown, hidden: entries.length - shown.length };
}
