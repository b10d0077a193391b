/** Pairs of sources by names: their ids are those of this server. */

import type { Source } from "../api";
import type { Link } from "./link";

const DIGITS = 16;

/** The id of a pair as a source: the server takes it apart again. */
export function pairId(snapshot: string, trace: string, shift: number | null): string {
  if (shift === null) return `${snapshot}${trace}`;
  const bits = BigInt.asUintN(64, BigInt(Math.round(shift)));
  return `${snapshot}${trace}${bits.toString(16).padStart(DIGITS, "0")}`;
}

/** How a link calls a source: a pair by both of what it is put together of. */
export function namesOf(
  { name, pair }: Source,
  sources: readonly Source[],
): Pick<Link, "source" | "with" | "shift"> {
  const named = (id: string) => sources.find((each) => each.id === id)?.name;
  const [snapshot, trace] = [pair && named(pair.snapshot), pair && named(pair.trace)];
  if (!pair || !snapshot || !trace) return { source: name };
  return {
    source: snapshot,
    with: trace,
    ...(pair.shift_ns !== null && { shift: pair.shift_ns }),
  };
}

/** The pair of a snapshot and the trace that a link names, of the same run if there is one. */
export function pairNamed(
  snapshot: Source,
  { with: name, shift }: Link,
  sources: readonly Source[],
): string | null {
  const all = sources.filter((each) => each.name === name && !each.pair);
  const trace = all.find(({ run }) => run === snapshot.run) ?? all[0];
  return trace === undefined ? null : pairId(snapshot.id, trace.id, shift ?? null);
}
