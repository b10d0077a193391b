/** From how many bytes up to how many: two fields, which let everything pass while they are empty. */

import type { Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { later } from "../../api";
import { least, most } from "../../state/view";
import { sizeOf, sizeText } from "./model";

const PAUSE_MS = 300;

export function Sizes() {
  return (
    <span class="sizes">
      <Size label="At least" value={least} />
      <Size label="at most" value={most} />
    </span>
  );
}

function Size({ label, value }: { label: string; value: Signal<number | null> }) {
  const [text, setText] = useState(sizeText(value.value));
  const size = sizeOf(text);
  useEffect(() => {
    // A link or another recording changes it from outside; what was typed keeps its spelling.
    setText((typed) => (sizeOf(typed) === value.value ? typed : sizeText(value.value)));
  }, [value.value]);
  useEffect(() => {
    if (size === undefined || size === value.peek()) return undefined;
    return later(() => {
      value.value = size;
    }, PAUSE_MS);
  }, [size]);
  return (
    <label class="size">
      <span class="quiet">{label}</span>
      <input
        class="field"
        type="text"
        inputMode="text"
        placeholder="any size"
        aria-label={`${label} so many bytes`}
        aria-invalid={size === undefined}
        title="Bytes, as in 512, 10 KiB or 1.5 GiB"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}
