/** What is said of the event at the cursor, as plain functions: a title and its facts. */

import type { EventRow } from "../api";
import { bytes, count, exactBytes } from "../format";
import { say } from "../state/say";

/** What happened, as a sentence about the program or its allocator begins. */
const HAPPENED: Readonly<Record<string, string>> = {
  alloc: "Allocated",
  free_requested: "Asked to free",
  free_completed: "Freed",
  segment_alloc: "Segment allocated",
  segment_free: "Segment freed",
  segment_map: "Segment mapped",
  segment_unmap: "Segment unmapped",
  snapshot: "Snapshot taken",
  oom: "Out of memory: asked for",
  user_defined: "Defined by the program",
};

/** `Allocated 2.00 MiB`. */
export function eventTitle({ action, size }: EventRow): string {
  const what = HAPPENED[action] ?? action.replace(/_/g, " ");
  return size === null ? what : `${what} ${bytes(size)}`;
}

export interface EventFact {
  readonly word: string;
  readonly value: string;
  /** The whole of it, for the pointer. */
  readonly title: string;
}

/** What the source has of it, in the order that people ask; nothing is said of what it has not. */
export function eventFacts(row: EventRow, basis: string): EventFact[] {
  const { about } = row;
  if (about === undefined) return [];
  const other = basis === "size" ? about.requested : about.size;
  const form = [about.dtype, about.shape].filter(Boolean).join(" ");
  const category = about.category === "unknown" ? null : about.category;
  const facts: (EventFact | null)[] = [
    other === row.size ? null : amount(say(basis === "size" ? "requested" : "block"), other),
    text("name", about.name),
    text(say("operator"), about.op),
    text(say("module"), about.module),
    text("step", about.step === null ? null : count(about.step)),
    text("category", category),
    text(say("region"), about.region),
    text("type, shape", form),
    row.label === about.op ? null : text("where", row.label),
    text(say("address"), row.address),
    amount(say("allocated after it"), about.allocated),
    amount("reserved", about.reserved),
  ];
  return facts.filter((fact) => fact !== null);
}

function text(word: string, value: string | null): EventFact | null {
  return value ? { word, value, title: value } : null;
}

function amount(word: string, value: number | null): EventFact | null {
  return value === null ? null : { word, value: bytes(value), title: exactBytes(value) };
}
