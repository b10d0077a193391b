/** Answers about what the pointer rests on, asked for after a moment and kept for a while. */

import { later, type Target, wasAborted } from "../api";
import { target } from "../flow/questions";
import { Recent } from "./recent";

/** The pointer rests when it stays this long, in ms. */
const REST = 120;
const KEPT = 400;

type Ask<Answer> = (of: Target, id: string, abort: AbortSignal) => Promise<Answer>;

/**
 * A function that tells what is known of an id, at once and soon; what it returns calls that off.
 * The box then says what it knows without; what is selected says what is wrong.
 */
export function lookUp<Answer>(ask: Ask<Answer>) {
  const kept = new Recent<Answer>(KEPT);
  return (id: string | null, tell: (answer: Answer | null) => void): (() => void) | undefined => {
    const of = target.value;
    if (id === null || of === null) {
      tell(null);
      return undefined;
    }
    const key = `${of.source} ${of.version} ${of.device} ${id}`;
    const known = kept.get(key);
    tell(known ?? null);
    if (known !== undefined) return undefined;
    const abort = new AbortController();
    const callOff = later(() => {
      ask(of, id, abort.signal).then(
        (answer) => {
          kept.set(key, answer);
          if (!abort.signal.aborted) tell(answer);
        },
        (error: unknown) => {
          if (!wasAborted(error)) tell(null);
        },
      );
    }, REST);
    return () => {
      callOff();
      abort.abort();
    };
  };
}
