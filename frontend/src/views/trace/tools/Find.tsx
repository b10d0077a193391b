/** Searching spans by name: hits stand out in all panels; Enter goes from one to the next. */

import { useEffect, useMemo } from "preact/hooks";
import { useTyped } from "../../../components/useTyped";
import { counted, grouped } from "../../../format";
import { findSpan } from "../../../state/trace";
import { createFinder } from "./finder";

export function Find() {
  const finder = useMemo(createFinder, []);
  useEffect(() => finder.dispose, [finder]);
  const [text, setText] = useTyped(findSpan);
  const { data, error } = finder.found.value;
  const wrong = findSpan.value === "" ? null : (error ?? finder.failure.value);
  const place = finder.place.value;
  const isFound = findSpan.value !== "" && wrong === null && data !== null;
  const go = (way: "next" | "previous") => {
    findSpan.value = text.trim();
    void finder.go(way);
  };
  return (
    <span class="filter trace-find" aria-busy={finder.found.value.loading}>
      <input
        class="field"
        type="search"
        data-shortcut="/"
        placeholder="Find a span, e.g. aten::mm"
        aria-label="Find spans by name"
        aria-invalid={wrong !== null}
        title="A part of the name; Enter goes to the next, Shift+Enter to the previous (press / to get here)"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          go(event.shiftKey ? "previous" : "next");
        }}
      />
      {isFound && (
        <>
          <span class="quiet small" role="status" data-testid="trace-found">
            {data.count === 0
              ? "nothing found"
              : place === null
                ? counted(data.count, "hit")
                : `${grouped(place + 1)} of ${grouped(data.count)}`}
          </span>
          <Step text="‹" label="Previous hit" go={() => go("previous")} count={data.count} />
          <Step text="›" label="Next hit" go={() => go("next")} count={data.count} />
        </>
      )}
      {wrong !== null && (
        <span class="wrong" role="alert">
          {wrong}
        </span>
      )}
    </span>
  );
}

interface StepProps {
  text: string;
  label: string;
  go: () => void;
  count: number;
}

function Step({ text, label, go, count }: StepProps) {
  return (
    <button
      type="button"
      class="button"
      aria-label={label}
      title={label}
      disabled={count === 0}
      onClick={go}
    >
      {text}
    </button>
  );
}
