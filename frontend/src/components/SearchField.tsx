/** A field that narrows or searches, taken over once typing pauses; what is wrong is said under it. */

import type { Signal } from "@preact/signals";
import { useTyped } from "./useTyped";

interface Properties {
  value: Signal<string>;
  label: string;
  placeholder: string;
  title: string;
  error: string | null;
}

export function SearchField({ value, label, placeholder, title, error }: Properties) {
  const [text, setText] = useTyped(value);
  return (
    <span class="filter">
      <input
        class="field"
        type="search"
        data-shortcut="/"
        placeholder={placeholder}
        aria-label={label}
        aria-invalid={error !== null}
        title={title}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {error && (
        <span class="wrong" role="alert">
          {error}
        </span>
      )}
    </span>
  );
}
