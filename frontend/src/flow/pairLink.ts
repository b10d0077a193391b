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

type Names = Pick<Link, "source" | "with" | "withRun" | "shift">;

/** How a link calls two sources that are put together. */
export const pairNames = (snapshot: Source, trace: Source, shift: number | null): Names => ({
  source: snapshot.name,
  with: trace.name,
  ...(trace.run !== snapshot.run && { withRun: trace.run }),
  ...(shift !== null && { shift }),
});

/** How a link calls a source: a pair by both of what it is put together of. */
export function namesOf({ name, pair }: Source, sources: readonly Source[]): Names {
  const found = (id: string) => sources.find((each) => each.id === id);
  const [snapshot, trace] = [pair && found(pair.snapshot), pair && found(pair.trace)];
  return pair && snapshot && trace ? pairNames(snapshot, trace, pair.shift_ns) : { source: name };
}

/** The pair of a snapshot and the trace that a link names; null where that trace is not there. */
export function pairNamed(
  snapshot: Source,
  { with: name, withRun: of = snapshot.run, shift }: Link,
  sources: readonly Source[],
): string | null {
  const trace = sources.find((each) => each.name === name && each.run === of && !each.pair);
  return trace === undefined ? null : pairId(snapshot.id, trace.id, shift ?? null);
}
