/** What the lists are made of: a line to turn pages, a switch to the cursor, what is said of none. */

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { placeWords } from "./model";
import { PAGE } from "./useList";

interface PagerProperties {
  offset: number;
  shown: number;
  all: number;
  turn: (offset: number) => void;
}

/** Which rows are shown of how many, and the way to the others. */
export function Pager({ offset, shown, all, turn }: PagerProperties) {
  if (all <= PAGE && offset === 0) return null;
  const last = Math.max(0, Math.floor((all - 1) / PAGE) * PAGE);
  const ways = [
    ["«", "First page", 0],
    ["‹", "Previous page", Math.max(0, offset - PAGE)],
    ["›", "Next page", offset + PAGE],
    ["»", "Last page", last],
  ] as const;
  return (
    <nav class="pager" aria-label="Pages">
      {ways.map(([sign, label, to], index) => (
        <>
          {index === 2 && (
            <span class="quiet" data-testid="page-place">
              {placeWords(offset, shown, all)}
            </span>
          )}
          <button
            type="button"
            class="button"
            aria-label={label}
            title={label}
            disabled={index < 2 ? offset === 0 : offset >= last}
            onClick={() => turn(to)}
          >
            {sign}
          </button>
        </>
      ))}
    </nav>
  );
}

interface ToCursorProperties {
  on: Signal<boolean>;
  title: string;
}

/** Lists what there is at the cursor, whatever the window. */
export function ToCursor({ on, title }: ToCursorProperties) {
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={on.value}
      title={title}
      onClick={() => (on.value = !on.value)}
    >
      at the cursor
    </button>
  );
}

interface StateProperties {
  error: string | null;
  loading: boolean;
  /** Whether there is an answer to show. */
  has: boolean;
  children: ComponentChildren;
}

/** The list, or why there is none yet. */
export function Listed({ error, loading, has, children }: StateProperties) {
  return (
    <div class="scroller" aria-busy={loading}>
      {error && (
        <p class="nothing danger" role="alert">
          {error}
        </p>
      )}
      {has ? children : !error && <p class="nothing quiet">Counting …</p>}
    </div>
  );
}
