/** The least bytes an allocation must have to be in the picture, typed as people write sizes. */

import { useEffect, useState } from "preact/hooks";
import { bytes } from "../../format";
import { parseBytes } from "../../format/parse";
import { minimum } from "../../state";

const EXAMPLES = ["64 KiB", "1 MiB", "16 MiB", "256 MiB"] as const;
const words = (value: number): string =>
  value > 0
    ? bytes(value).replace(/\.0+(?=\D)|\u00a0/g, (part) => (part === "\u00a0" ? " " : ""))
    : "";

export function Minimum() {
  const [text, setText] = useState(words(minimum.value));
  useEffect(() => setText(words(minimum.value)), [minimum.value]);
  const read = text.trim() === "" ? 0 : parseBytes(text);
  const take = (): void => {
    if (read !== null) minimum.value = read;
  };
  return (
    <label class="labelled" title="Leave out what is smaller, e.g. 1 MiB">
      <span class="quiet">at least</span>
      <input
        class="field allocations-minimum"
        list="allocations-sizes"
        placeholder="0 B"
        aria-label="Least bytes of an allocation"
        aria-invalid={read === null}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={take}
        onKeyDown={(event) => {
          if (event.key === "Enter") take();
        }}
      />
      <datalist id="allocations-sizes">
        {EXAMPLES.map((example) => (
          <option key={example} value={example} />
        ))}
      </datalist>
    </label>
  );
}
