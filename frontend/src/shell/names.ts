/** Words for a source in the list: its title and the line of facts under it. */

import type { Brief, Source } from "../api";
import { bytes, counted } from "../format";

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
  if (brief.events === 0) words.push("no history");
  if (brief.devices && brief.devices > 1) words.push(counted(brief.devices, "device"));
  return words;
}

/** `snapshot · 22 332 events · 2 steps`; a source not read yet is known by its size. */
export function factsLine(source: Source): string {
  const words = [formatWord(source.format)];
  if (source.brief) words.push(...briefWords(source.brief));
  if (!source.brief || words.length === 1) words.push(bytes(source.bytes));
  return words.join(" · ");
}

export interface RunOfSources {
  run: string;
  sources: Source[];
}

/** Sources under their runs, runs in reading order (run-2 before run-10), newest source first. */
export function byRun(sources: readonly Source[]): RunOfSources[] {
  const runs = new Map<string, Source[]>();
  for (const source of sources) {
    const run = runName(source.run);
    runs.set(run, [...(runs.get(run) ?? []), source]);
  }
  const order = new Intl.Collator(undefined, { numeric: true });
  return [...runs]
    .map(([run, members]) => ({
      run,
      sources: members.sort(
        (a, b) => b.modified_ns - a.modified_ns || order.compare(a.name, b.name),
      ),
    }))
    .sort((a, b) => order.compare(a.run, b.run));
}

/** Sources whose run, name or format holds every word of `text`. */
export function matching(sources: readonly Source[], text: string): Source[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return sources.filter((source) => {
    const whole = `${source.run}/${source.name} ${formatWord(source.format)}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** The newest `most` of the sources and how many that leaves out; the chosen one is never left out. */
export function atMost(
  sources: readonly Source[],
  most: number,
  chosen: string | null,
): { shown: Source[]; hidden: number } {
  if (sources.length <= most) return { shown: [...sources], hidden: 0 };
  const rank = ({ id, modified_ns }: Source): number =>
    id === chosen ? Number.POSITIVE_INFINITY : modified_ns;
  const shown = [...sources].sort((a, b) => rank(b) - rank(a)).slice(0, most);
  return { shown, hidden: sources.length - shown.length };
}
