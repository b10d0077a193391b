/** The heads of tracks: names, and buttons that fold, pin and hide them. */

import { counted } from "../../../format";
import { foldedTracks, hiddenTracks, pinnedTracks, toggled } from "../../../state/trace";
import { HEAD, type Placed } from "./layout";
import type { Panel } from "./model";

export function Heads({ panel }: { panel: Panel }) {
  const { staying, edge, rest } = panel.inSight.value;
  const scrolled = panel.scrolled.value;
  return (
    <>
      {staying.map((placed) => (
        <Head key={placed.track.id} placed={placed} edge={0} scrolled={scrolled} stays />
      ))}
      {rest.map((placed) => (
        <Head key={placed.track.id} placed={placed} edge={edge} scrolled={scrolled} />
      ))}
    </>
  );
}

interface HeadProps {
  placed: Placed;
  /** Pixels from the top that others take, and those scrolled away above. */
  edge: number;
  scrolled: number;
  /** Whether it lies over what is scrolled. */
  stays?: boolean;
}

/** Of a track that begins further up it stays in sight. */
function Head({ placed, edge, scrolled, stays = false }: HeadProps) {
  const { track, isFolded, isPinned } = placed;
  const isStuck = placed.top < edge;
  const seen = isStuck ? Math.min(edge, placed.top + placed.height - HEAD) : placed.top;
  const top = seen + scrolled;
  const { id, name, events, spans } = track;
  const allocates = events > 0 ? `, ${counted(events, "event")} of memory` : "";
  return (
    <div
      class={`trace-track ${isStuck ? "is-stuck" : ""} ${stays ? "stays" : ""}`}
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
