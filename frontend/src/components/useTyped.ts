/** The text of a field that narrows or searches, taken over once typing pauses. */

import type { Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { later } from "../api";

const PAUSE_MS = 300;

/** What stands in the field, and how to change it; `value` follows, without spaces at its ends. */
export function useTyped(value: Signal<string>): [string, (text: string) => void] {
  const [text, setText] = useState(value.value);
  useEffect(() => {
    // A link, another view or recording changes it from outside; what was typed keeps its spaces.
    setText((typed) => (typed.trim() === value.value ? typed : value.value));
  }, [value.value]);
  useEffect(() => {
    if (text.trim() === value.peek()) return undefined;
    return later(() => {
      value.value = text.trim();
    }, PAUSE_MS);
  }, [text]);
  return [text, setText];
}
