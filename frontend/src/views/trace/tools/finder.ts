/** The search among spans: how many there are, which of them is shown, and the way to the next. */

import { batch, effect, signal } from "@preact/signals";
import { getTraceFound, type TraceFound, type TraceSpan } from "../../../api";
import { target } from "../../../flow/questions";
import { goToSpan } from "../../../flow/spans";
import { selection } from "../../../state";
import { resource, words } from "../../../state/resource";
import { findSpan, foldedTracks, hiddenTracks } from "../../../state/trace";

export function createFinder() {
  /** Which of all it is that was gone to; null before that. */
  const place = signal<number | null>(null);
  const failure = signal<string | null>(null);
  const asked = resource(
    () =>
      target.value === null || findSpan.value === ""
        ? null
        : { ...target.value, find: findSpan.value, way: "first" as const },
    getTraceFound,
  );
  const stop = effect(() => {
    findSpan.value;
    target.value;
    batch(() => {
      place.value = null;
      failure.value = null;
    });
  });
  const go = async (way: "next" | "previous"): Promise<void> => {
    const [of, find] = [target.peek(), findSpan.peek()];
    if (of === null || find === "") return;
    try {
      const found = await nextOf({ ...of, find, way });
      if (findSpan.peek() !== find) return;
      failure.value = null;
      place.value = found.place;
    } catch (error) {
      failure.value = words(error);
    }
  };
  return {
    found: asked.answer,
    place,
    failure,
    go,
    dispose: () => {
      stop();
      asked.dispose();
    },
  };
}

type Asked = Parameters<typeof getTraceFound>[0];

/** Goes to the span of a name that comes next after the selected one. */
export async function nextOf(question: Asked): Promise<TraceFound> {
  const chosen = selection.peek();
  const after = chosen?.kind === "span" ? chosen.id : "";
  const found = await getTraceFound({ ...question, after });
  if (found.span !== null) seek(found.span);
  return found;
}

/** Shows a span wherever it is: its track is neither left out nor of one line then. */
function seek(span: TraceSpan): void {
  batch(() => {
    const others = (ids: readonly string[]) =>
      ids.includes(span.track) ? ids.filter((id) => id !== span.track) : ids;
    hiddenTracks.value = others(hiddenTracks.peek());
    if (span.depth > 0) foldedTracks.value = others(foldedTracks.peek());
    goToSpan(span, true);
  });
}
