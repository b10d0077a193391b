/** What is said of an item: on it, beside the pointer, and to who cannot see it. */

import type { TraceItems, TraceSpan } from "../../../api";
import {
  counted,
  duration,
  grouped,
  kindWord,
  moment,
  share,
  shortName,
  signedBytes,
} from "../../../format";
import { busyShare, rangeOf } from "./items";

export const nameOf = (of: TraceItems, at: number): string =>
  of.names[of.name[at] as number] ?? kindWord(kindOf(of, at));

export const kindOf = (of: TraceItems, at: number): string | null =>
  of.kinds[of.kind[at] as number] ?? null;

/** What stands on its box. */
export function drawnName(of: TraceItems, at: number): string {
  const count = of.count[at] as number;
  const name = shortName(nameOf(of, at));
  return count > 1 ? `${grouped(count)} × ${name}` : name;
}

/** `allocated 1.00 MiB more than it freed`, as the colour by net bytes has it. */
function netWords(net: number): string {
  if (net === 0) return "allocated as much as freed, or nothing";
  return `${signedBytes(net)} allocated net`;
}

export interface Told {
  readonly title: string;
  readonly lines: readonly string[];
}

/** What is said beside the pointer. */
export function wordsOf(of: TraceItems, at: number, track: string): Told {
  const { begin, end } = rangeOf(of, at);
  const count = of.count[at] as number;
  const kind = kindWord(kindOf(of, at));
  const found = of.hits?.[at] ?? 0;
  const hits = of.hits === null || count === 1 ? [] : [`${counted(found, "hit")} among them`];
  const when = `${moment(begin, 0)}, on ${track}`;
  if (count === 1) {
    const lines = [`${kind}, ${duration(end - begin)}`, netWords(of.net[at] as number), when];
    return { title: nameOf(of, at), lines };
  }
  return {
    title: `${grouped(count)} spans too short to tell apart here`,
    lines: [
      `the longest: ${shortName(nameOf(of, at))} (${kind})`,
      `${duration(of.busy[at] as number)} of ${duration(end - begin)}, ${share(busyShare(of, at), 1)} busy`,
      netWords(of.net[at] as number),
      ...hits,
      when,
    ],
  };
}

/** A selected span as it is spoken. */
export const spokenOf = ({ name, kind, begin, end, depth }: TraceSpan, track: string): string =>
  `${name}, ${kindWord(kind)}, ${duration(end - begin)}, level ${depth + 1} on ${track}`;
