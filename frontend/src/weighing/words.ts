/** What stacks are weighed by, in words, and their weights as people read them. */

import type { Of, Unit, Weighed } from "../api";
import { bytes, count, counted, exactBytes, grouped } from "../format";
import { momentWords } from "../state/moment";

interface Meaning {
  label: string;
  /** Exactly what it means. */
  title: string;
}

export const MEANINGS: Readonly<Record<Of, Meaning>> = {
  alive: {
    label: "alive",
    title: "Bytes alive at the cursor, or at the peak while there is none",
  },
  highest: {
    label: "highest",
    title:
      "Bytes alive at the first moment of the window at which allocated is highest in it, whenever they were born: memray's temporal flame graph",
  },
  lifetime: {
    label: "× lifetime",
    title: "Bytes × the time they were alive within the window, whenever they were born",
  },
  allocations: {
    label: "allocations",
    title: "How many allocations were born in the window, whatever became of them",
  },
  kept: {
    label: "kept",
    title:
      "Bytes born in the window and not freed within it: memray's temporal flame graph with --leaks",
  },
  passing: {
    label: "passing",
    title: "Bytes born in the window and freed within it: what it kept is left out",
  },
};

const LENGTHS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
] as const;

/** A weight in the unit that suits it. */
export function weight(value: number, unit: Unit): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "allocations") return count(value);
  if (unit === "byte_events") return `${bytes(value)}\u00a0·\u00a0event`;
  const [ns, name] = LENGTHS.find(([length]) => value >= 1024 * length) ?? ([1, "ns"] as const);
  return `${bytes(value / ns)}\u00a0·\u00a0${name}`;
}

/** A weight to the last digit; past 2⁵³, where numbers are rounded, the digits that are known. */
export function exactWeight(value: number, unit: Unit): string {
  if (unit === "bytes") return exactBytes(value);
  if (unit === "allocations") return counted(value, "allocation");
  return `${Number.isSafeInteger(value) ? grouped(value) : known(value)}\u00a0byte\u00a0·\u00a0${unit === "byte_ns" ? "ns" : "events"}`;
}

/** What the graph is of, as a heading: `Alive at step 3, +410 ms`. */
export function heading(answer: Weighed, place: { atPeak: boolean; whole: boolean }): string {
  const { of, moment } = answer;
  const within = place.whole ? "the recording" : "the window";
  if (moment !== null) {
    const when = moment.event < 0 ? "the start" : momentWords(moment);
    if (of === "highest") return `Alive at the highest moment of ${within}, ${when}`;
    return place.atPeak ? `Alive at the peak, ${when}` : `Alive at ${when}`;
  }
  if (of === "lifetime") return `Bytes × lifetime within ${within}`;
  if (of === "allocations") return `Allocations born in ${within}`;
  return `Born in ${within} and ${of === "kept" ? "alive at its end" : "freed within it"}`;
}

const DIGITS = 15;

/** `≈ 5 893 758 761 091 380 000`: fifteen digits of a number are certain. */
function known(value: number): string {
  const step = 10n ** BigInt(Math.floor(Math.log10(value)) + 1 - DIGITS);
  const rounded = ((BigInt(value) + step / 2n) / step) * step;
  return `≈\u00a0${grouped(rounded)}`;
}
