/** The text of a field that narrows or searches, taken over once typing pauses. */

import type { Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { later } from "../api";

const PAUSE_MS = 300;

/** What stands in the field, and how to change it; `value` follows, without spaces at its ends. */
export function useTyped(value: Signal<string>): [string, (text: string) => void] {
  const [text, setText] = useState(value.value);
  const seen = useRef(value.value);
  useEffect(() => {
    // Only what changes from outside (a link, another view or recording) goes before what was typed.
    if (value.value === seen.current) return;
    seen.current = value.value;
    setText(value.value);
  }, [value.value]);
  useEffect(() => {
    if (text.trim() === value.peek()) return undefined;
    return later(() => {
      seen.current = text.trim();
      value.value = seen.current;
    }, PAUSE_MS);
  }, [text]);
  return [text, setText];
}
