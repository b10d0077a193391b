/** The heads of tracks: names, and buttons that fold, pin and hide them. */

import { counted } from "../../../format";
import { foldedTracks, hiddenTracks, pinnedTracks, toggled } from "../../../state/trace";
import { HEAD, type Placed } from "./layout";
import type { Panel } from "./model";

export function Heads({ panel }: { panel: Panel }) {
  return (
    <>
      {panel.inSight.value.map((placed) => (
        <Head key={placed.track.id} placed={placed} scrolled={panel.scrolled.value} />
      ))}
    </>
  );
}

/** Of a track that begins further up it stays in sight. */
function Head({ placed, scrolled }: { placed: Placed; scrolled: number }) {
  const { track, isFolded, isPinned } = placed;
  const isStuck = scrolled > placed.top;
  const top = isStuck ? Math.min(scrolled, placed.top + placed.height - HEAD) : placed.top;
  const { id, name, events, spans } = track;
  const allocates = events > 0 ? `, ${counted(events, "event")} of memory` : "";
  return (
    <div
      class={`trace-track ${isStuck ? "is-stuck" : ""}`}
      style={{ top: `${top}px`, height: `${HEAD}px` }}
      data-track={id}
    >
      <button
        type="button"
        class="plain trace-fold"
        aria-expanded={!isFolded}
        title={isFolded ? "Show all lanes" : "Fold to one line"}
        onClick={() => (foldedTracks.value = toggled(foldedTracks.value, id))}
      >
        <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span> {name}
      </button>
      <span class="quiet trace-count">
        {counted(spans, "span")}
        {allocates}
      </span>
      <span class="trace-track-tools">
        <button
          type="button"
          class="plain"
          aria-pressed={isPinned}
          title={isPinned ? "No longer on top" : "Keep on top"}
          onClick={() => (pinnedTracks.value = toggled(pinnedTracks.value, id))}
        >
          {isPinned ? "unpin" : "pin"}
        </button>
        <button
          type="button"
          class="plain"
          title="Leave this track out"
          onClick={() => (hiddenTracks.value = toggled(hiddenTracks.value, id))}
        >
          hide
        </button>
      </span>
    </div>
  );
}
