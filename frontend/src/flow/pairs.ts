/** Asks which other recordings are of the same process, and puts two of them together. */

import { batch, effect, signal } from "@preact/signals";
import { getPairs, type Proposed, type Source, wasAborted } from "../api";
import { openStatus, source, sourceId, sourceList } from "../state/recording";
import { visible } from "../state/visible";
import { chooseSame, chooseSource, pending } from "./choose";
import type { Link } from "./link";
import { stateLink } from "./linking";
import { pairId, pairNames } from "./pairLink";
import { refreshSources } from "./sources";

const POLL_MS = 700;

/** What may be of the process of the source that is looked at; null until that is known. */
export const proposals = signal<readonly Proposed[] | null>(null);
/** The source that it is to be compared with, read or not. */
const compared = signal<{ source: string; other: string } | null>(null);

const isUnderWay = ({ state }: Proposed): boolean => state === "reading" || state === "matching";

/** Compares the source that is looked at with another one of its process, perhaps. */
export function compare(other: string): void {
  const of = sourceId.peek();
  if (of !== null) compared.value = { source: of, other };
}

/** Keeps `proposals` up to date; the answer ends it. */
export function followPairs(): () => void {
  return effect(() => {
    const id = sourceId.value;
    const isRead = openStatus.value?.state === "ready";
    const asked = compared.value;
    // Another file of the run may be the one.
    const known = sourceList.value?.sources.length ?? 0;
    if (id === null || !isRead || !visible.value || known < 2) {
      if (id !== proposals.peek()?.[0]?.pair) proposals.value = null;
      return;
    }
    const stop = new AbortController();
    void poll(id, asked?.source === id ? asked.other : null, stop.signal);
    return () => stop.abort();
  });
}

async function poll(source: string, match: string | null, abort: AbortSignal): Promise<void> {
  for (;;) {
    try {
      const { pairs } = await getPairs({ source, match }, abort);
      if (abort.aborted) return;
      proposals.value = pairs;
      if (!pairs.some(isUnderWay)) return;
    } catch (error) {
      // What is offered beside all else is no reason to complain.
      if (!wasAborted(error)) proposals.value = null;
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (abort.aborted) return;
  }
}

/** Opens a source and keeps what is looked at where `keeps`: both have the same events. */
function open(id: string, names: Link, keeps: boolean): void {
  const { with: _with, withRun: _run, shift: _shift, ...link } = stateLink() ?? {};
  const { view, panels, colours } = link;
  const little = { ...(view && { view }), ...(panels && { panels }), ...(colours && { colours }) };
  batch(() => {
    if (keeps) chooseSame(id, { ...link, ...names });
    else {
      chooseSource(id);
      pending.value = { ...little, ...names };
    }
  });
  refreshSources();
}

const named = (id: string): Source | undefined =>
  sourceList.peek()?.sources.find((each) => each.id === id);

/** Shows two as one, the spans of the trace `shift` ns later where that is not null. */
export function showTogether(snapshot: string, trace: string, shift: number | null): void {
  const [now, ours, theirs] = [source.peek(), named(snapshot), named(trace)];
  if (!ours || !theirs) return;
  const names = { run: ours.run, ...pairNames(ours, theirs, shift) };
  const keeps = now?.id === snapshot || now?.pair?.snapshot === snapshot;
  open(pairId(snapshot, trace, shift), names, keeps);
}

/** Shows one of a pair alone. */
export function showAlone(id: string): void {
  const one = named(id);
  if (!one) return;
  open(id, { run: one.run, source: one.name }, source.peek()?.pair?.snapshot === id);
}
