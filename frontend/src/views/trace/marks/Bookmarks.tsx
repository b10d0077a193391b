/** Windows and moments that were given names: kept, gone to, taken out; a link carries them. */

import { useState } from "preact/hooks";
import { bookmarks } from "../../../state/trace";
import type { Model as Timeline } from "../../../timeline/model";
import { roundWindow } from "../../../timeline/scale";
import { jump, wordsOf } from "./words";

export function Bookmarks({ timeline }: { timeline: Timeline }) {
  const [name, setName] = useState("");
  const all = bookmarks.value;
  const add = (begin: number, end: number) => {
    const said = name.trim() || wordsOf({ begin, end });
    bookmarks.value = [...all, { begin, end, name: said }].sort((a, b) => a.begin - b.begin);
    setName("");
  };
  const addWindow = () => {
    const { begin, end } = roundWindow(timeline.window.peek());
    add(begin, end);
  };
  const addCursor = () => {
    const at = timeline.cursorPlace.peek();
    if (at !== null) add(Math.round(at), Math.round(at) + 1);
  };
  return (
    <details
      class="trace-bookmarks"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !event.currentTarget.open) return;
        event.currentTarget.open = false;
        event.stopPropagation();
      }}
    >
      <summary class="chip">bookmarks{all.length > 0 ? ` (${all.length})` : ""}</summary>
      <div class="trace-over">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            addWindow();
          }}
        >
          <input
            class="field"
            aria-label="Name of the bookmark"
            placeholder="name"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit" class="button">
            add window
          </button>
          <button type="button" class="button" onClick={addCursor}>
            add cursor
          </button>
        </form>
        {all.length === 0 ? <p class="quiet small">None yet. They are kept in the link.</p> : null}
        <ul>
          {all.map((bookmark, at) => (
            <li key={`${bookmark.begin} ${bookmark.end} ${bookmark.name}`}>
              <button type="button" class="link" onClick={() => jump(timeline, bookmark)}>
                {bookmark.name}
              </button>
              <span class="quiet small">{wordsOf(bookmark)}</span>
              <button
                type="button"
                class="plain"
                aria-label={`Remove ${bookmark.name}`}
                title="Remove"
                onClick={() => (bookmarks.value = all.filter((_, place) => place !== at))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
