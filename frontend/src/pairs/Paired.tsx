/** What an open pair is put together of, how well that fits, and by how much it is shifted. */

import { useEffect, useState } from "preact/hooks";
import type { Match, Pair, PairTold, Source } from "../api";
import { showAlone, showTogether } from "../flow/pairs";
import { duration, sentence } from "../format";
import { source, sourceList, summary } from "../state/recording";
import {
  clockWords,
  matchWords,
  pairNotes,
  shiftOf,
  shiftParts,
  sourceWord,
  UNITS,
  type Unit,
} from "./words";

export function Paired() {
  const [here, known] = [source.value, summary.value];
  if (!here?.pair || known === null) return null;
  const { pair } = here;
  const told = (known.meta.pair ?? {}) as PairTold;
  const isMatched = (told.matched ?? 0) > 0;
  return (
    <section class="pair-open" aria-label="Two recordings as one" data-testid="pair-open">
      <p>
        <Part id={pair.snapshot} of={here} /> together with <Part id={pair.trace} of={here} />.{" "}
        <span class="quiet">
          {isMatched
            ? `${sentence(matchWords(told as Match))} ${sentence(clockWords(told as Match))}`
            : "Nothing that they allocated is the same: times are as their clocks show them."}
          {pairNotes(told).map((note) => ` ${note[0]?.toUpperCase()}${sentence(note.slice(1))}`)}
        </span>
      </p>
      <Shift pair={pair} />
    </section>
  );
}

function Part({ id, of }: { id: string; of: Source }) {
  const found: Source | undefined = sourceList.value?.sources.find((each) => each.id === id);
  return (
    <button type="button" class="link" title="Show it alone" onClick={() => showAlone(id)}>
      {found ? sourceWord(found, of) : "another recording"}
    </button>
  );
}

function Shift({ pair: { snapshot, trace, shift_ns: shift } }: { pair: Pair }) {
  const first = shiftParts(shift ?? 0);
  const [text, setText] = useState(first.value);
  const [unit, setUnit] = useState<Unit>(first.unit);
  useEffect(() => {
    setText(first.value);
    setUnit(first.unit);
  }, [first.value, first.unit]);
  const ns = shiftOf(text, unit);
  const apply = (to: number | null) => {
    if (to !== null && to !== (shift ?? 0)) showTogether(snapshot, trace, to);
  };
  const step = (by: number) => apply((shift ?? 0) + by * UNITS[unit]);
  return (
    <form
      class="pair-shift"
      onSubmit={(event) => {
        event.preventDefault();
        apply(ns);
      }}
    >
      <label>
        spans of the trace later by{" "}
        <input
          class="field"
          inputMode="decimal"
          aria-invalid={ns === null}
          aria-label="Shift of the trace"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <select
        class="field"
        aria-label="Unit of the shift"
        value={unit}
        onChange={(event) => setUnit(event.currentTarget.value as Unit)}
      >
        {Object.keys(UNITS).map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      <button type="button" class="button" title={`1 ${unit} earlier`} onClick={() => step(-1)}>
        −
      </button>
      <button type="button" class="button" title={`1 ${unit} later`} onClick={() => step(1)}>
        +
      </button>
      <button type="submit" class="button" disabled={ns === null || ns === (shift ?? 0)}>
        shift
      </button>
      {shift !== null && shift !== 0 && (
        <button
          type="button"
          class="link"
          title={`Now ${duration(shift)} later than where it matches`}
          onClick={() => showTogether(snapshot, trace, null)}
        >
          reset
        </button>
      )}
    </form>
  );
}
