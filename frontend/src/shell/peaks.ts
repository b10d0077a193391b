/** The peaks of a session's hosts: on one scale, compared, and in words. */

import type { Source } from "../api";
import { bytes, exactBytes } from "../format";
import { hostName } from "../state/hosts";
import { holds } from "./names";

/** Null where it is not known: what a file held before it became unreadable is not its peak. */
export const peakOf = ({ brief, state }: Source): number | null =>
  state === "error" ? null : (brief?.peak_bytes ?? null);

/** What a full bar stands for: the largest capacity where all that are known have one, else peak. */
export function fullBar(hosts: readonly Source[]): { bytes: number; isCapacity: boolean } {
  const known = hosts.flatMap(({ brief }) => (brief ? [brief] : []));
  const isCapacity = known.length > 0 && known.every(({ capacity }) => capacity !== null);
  const amounts = known.map((one) => (isCapacity ? one.capacity : one.peak_bytes) ?? 0);
  return { bytes: amounts.reduce((most, one) => Math.max(most, one), 1), isCapacity };
}

/** `Peak 11.6 GiB of 80 GiB on cuda:3 (12 426 629 128 bytes)`. */
export function peakWords(host: Source): string {
  const { brief } = host;
  const peak = peakOf(host);
  if (peak === null) return stateWords(host) || "Not read";
  const whole = brief?.capacity ? ` of ${bytes(brief.capacity)}` : "";
  const where = brief?.peak_device ? ` on ${brief.peak_device}` : "";
  return `Peak ${bytes(peak)}${whole}${where} (${exactBytes(peak)})`;
}

/** What is worth saying of a host's state, where its peak is not known. */
export function stateWords({ state, error, brief }: Source): string {
  if (state === "error") return error ?? "cannot be read";
  if (state === "ready" && brief?.modules) return "no plan";
  if (state === "reading") return "reading …";
  return state === "queued" ? "waiting" : "";
}

export interface Balance {
  /** Hosts whose peaks are known. */
  known: number;
  highest: Source;
  lowest: Source;
  /** The highest peak to the median of all that are known. */
  ratio: number | null;
}

/** How peaks differ; null with fewer than two. */
export function balance(hosts: readonly Source[]): Balance | null {
  const sorted = hosts
    .filter((host) => peakOf(host) !== null)
    .sort((a, b) => (peakOf(a) ?? 0) - (peakOf(b) ?? 0));
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (!lowest || !highest || sorted.length < 2) return null;
  const middle = (place: number): number => peakOf(sorted[Math.floor(place)] ?? lowest) ?? 0;
  const half = (sorted.length - 1) / 2;
  const median = (middle(half) + middle(half + 0.5)) / 2;
  const ratio = median > 0 ? (peakOf(highest) ?? 0) / median : null;
  return { known: sorted.length, highest, lowest, ratio };
}

const BOUNDARY = /[^a-z0-9]/i;
/** Characters of a name that there is room for. */
const ROOM = 12;

/** How much of the beginning is the same in all `texts`, in whole words, but for the last `kept`. */
function common(texts: readonly string[], kept: number): number {
  const [first = ""] = texts;
  const ends = [0];
  for (let at = 0; texts.every((text) => at < text.length && text[at] === first[at]); at += 1) {
    if (BOUNDARY.test(first[at] ?? "")) ends.push(at + 1);
  }
  return ends.at(-1 - kept) ?? 0;
}

const turned = (text: string): string => [...text].reverse().join("");

/** The hosts' names without what all of them begin and end with: `t1v-n-9f2c-w-0` → `…w-0`. */
export function shortNames(hosts: readonly Source[]): string[] {
  const names = hosts.map(hostName);
  if (names.every((name) => name.length <= ROOM)) return names;
  const begin = common(names, 1);
  const rests = names.map((name) => name.slice(begin));
  const end = common(rests.map(turned), 0);
  return rests.map(
    (rest) => `${begin ? "…" : ""}${end ? `${rest.slice(0, rest.length - end)}…` : rest}`,
  );
}

export const matchingHosts = (hosts: readonly Source[], text: string): Source[] =>
  hosts.filter((host) => holds(`${hostName(host)} ${host.run}/${host.name}`, text));

/**
 * At most `most` hosts, in their order, and how many that leaves out: those with the largest peaks,
 * then those not read; the chosen one is never left out.
 */
export function mostHosts(
  hosts: readonly Source[],
  most: number,
  chosen: string | null,
): { shown: Source[]; hidden: number } {
  if (hosts.length <= most) return { shown: [...hosts], hidden: 0 };
  const worth = (host: Source): number =>
    host.id === chosen ? Number.POSITIVE_INFINITY : (peakOf(host) ?? -1);
  const kept = new Set([...hosts].sort((a, b) => worth(b) - worth(a)).slice(0, most));
  return { shown: hosts.filter((host) => kept.has(host)), hidden: hosts.length - most };
}
