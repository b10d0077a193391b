/** Cards of allocations that the pointer rests on, asked for after a moment and kept for a while. */

import { type AllocationCard, getAllocation, wasAborted } from "../../api";
import { target } from "../../flow/questions";
import { Recent } from "../profile/timeline/recent";

/** The pointer rests when it stays this long, in ms. */
const REST = 120;
const kept = new Recent<AllocationCard>(400);

/** Tells what is known of an allocation, soon; the answer calls that off. */
export function cardOf(
  id: string | null,
  tell: (card: AllocationCard | null) => void,
): (() => void) | undefined {
  const of = target.value;
  if (id === null || of === null) {
    tell(null);
    return undefined;
  }
  const key = `${of.source} ${of.version} ${id}`;
  const known = kept.get(key);
  tell(known ?? null);
  if (known !== undefined) return undefined;
  const abort = new AbortController();
  const timer = setTimeout(() => {
    getAllocation(of.source, of.version, id, abort.signal).then(
      (card) => {
        kept.set(key, card);
        if (!abort.signal.aborted) tell(card);
      },
      (error: unknown) => {
        // The box then says what it knows without; what is selected says what is wrong.
        if (!wasAborted(error)) tell(null);
      },
    );
  }, REST);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
