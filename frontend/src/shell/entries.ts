/** The list of sources as entries: a session of several hosts is one, with all of its sources. */

import type { Session, Source, SourceList } from "../api";
import { bytes, counted } from "../format";
import { factsLine, formatWord } from "./names";

export interface Entry {
  id: string;
  run: string;
  name: string;
  format: string;
  modified_ns: number;
  session: Session | null;
  /** At least one. */
  sources: Source[];
}

export function entriesOf({
  sources,
  sessions,
}: Pick<SourceList, "sources" | "sessions">): Entry[] {
  const known = new Map(sessions.map((session) => [session.key, session]));
  const entries = new Map<string, Entry>();
  for (const source of sources) {
    const session = known.get(source.session ?? "") ?? null;
    const id = session?.key ?? source.id;
    const entry = entries.get(id);
    if (entry) {
      entry.sources.push(source);
      entry.modified_ns = Math.max(entry.modified_ns, source.modified_ns);
    } else {
      const { run, label: name } = session ?? { run: source.run, label: source.name };
      const { format, modified_ns } = source;
      entries.set(id, { id, run, name, format, modified_ns, session, sources: [source] });
    }
  }
  return [...entries.values()];
}

/** `4 hosts`, `1 024 ranks`. */
export const hostsWord = (count: number, of: Session["of"]): string => counted(count, of);

/** `4 hosts · XPlane · peak 11.6 GiB · 1 cannot be read`; of a single source its facts. */
export function entryFacts({ session, sources, format }: Entry): string {
  const [only] = sources;
  if (!session) return only ? factsLine(only) : "";
  const words = [hostsWord(sources.length, session.of), formatWord(sources[0]?.format ?? format)];
  const peaks = sources.map(({ brief }) => brief?.peak_bytes ?? null).filter((one) => one !== null);
  if (peaks.length > 0) words.push(`peak ${bytes(Math.max(...peaks))}`);
  const broken = sources.filter(({ state }) => state === "error").length;
  if (broken > 0) words.push(`${counted(broken, session.of)} cannot be read`);
  return words.join(" · ");
}

/** `2026_01_02_10_00_00 · host`: the way there says nothing that its format does not. */
export const shownName = (name: string): string =>
  name.replace(/^plugins\/profile\/([^/]+)\/(.+?)\.xplane\.pb(\.gz)?$/, "$1 · $2");
