/** Explains whatever is selected; with nothing selected, what can be. */

import { hasHistory, isPlan } from "../state/recording";
import { say } from "../state/say";
import { selection } from "../state/view";
import { Allocation } from "./Allocation";
import { Group } from "./Group";
import { Span } from "./Span";
import "./inspector.css";

/** `view` is the key of the view that is shown beside. */
export function Inspector({ view }: { view: string }) {
  const chosen = selection.value;
  const hints = hintsFor(view);
  // Where nothing can be selected it only stands for what was selected elsewhere.
  if (chosen === null && hints.length === 0) return null;
  return (
    <aside class={`inspector ${chosen ? "chosen" : ""}`} aria-label="Inspector">
      {chosen && (
        <button
          type="button"
          class="plain close"
          aria-label="Deselect"
          title="Deselect (Esc)"
          onClick={() => (selection.value = null)}
        >
          ×
        </button>
      )}
      {chosen === null && <Nothing hints={hints} />}
      {chosen?.kind === "allocation" && <Allocation />}
      {chosen?.kind === "span" && <Span />}
      {chosen?.kind === "group" && <Group groupBy={chosen.by} id={chosen.key} />}
    </aside>
  );
}

function Nothing({ hints }: { hints: readonly string[] }) {
  return (
    <div class="quiet hints">
      <p>Select something to have it explained here.</p>
      <ul>
        {hints.map((hint) => (
          <li key={hint}>{hint}</li>
        ))}
      </ul>
    </div>
  );
}

const OVER_TIME = [
  "Click the chart to see what was alive at that moment.",
  "Drag over the chart to zoom in, Esc to come back.",
];
const BARS = ["Point at a bar for a buffer and its life, click it for its instruction."];
const SPAN =
  "Click a step, a module or an annotation to zoom to it and to see what memory did in it.";

/** What can be selected in a view; hints that need a history are left out without one. */
function hintsFor(view: string): string[] {
  const overTime = (...hints: string[]): string[] => (hasHistory.value ? hints : []);
  switch (view) {
    case "allocations":
      return [
        `Click ${isPlan.value ? "a buffer" : "an allocation"} for its size, its life and its stack.`,
        "Click a paler strip, which stands for several, to zoom to them.",
        ...(isPlan.value ? [] : overTime(SPAN)),
      ];
    case "segments":
      return [
        "Click a block of the map for what is in it.",
        ...overTime("Click an event to go to its moment and to the allocation it is about.", SPAN),
      ];
    case "flame":
      return [
        ...overTime(...OVER_TIME),
        "Click a frame to look into it, then group the other views by it.",
      ];
    case "source":
      return [...overTime(...OVER_TIME), "Filter by a line to narrow all views to it."];
    case "trace":
      return [
        "Click a span for what memory did in it, what is inside of it and what it is linked to.",
        "Click several that are drawn as one to zoom to them.",
        "Click an allocation for the spans that made and freed it.",
        "Drag to zoom in; with Alt to sum up what is in an area.",
      ];
    case "settings":
      return [];
    default:
      return [
        ...overTime(...OVER_TIME, ...(isPlan.value ? BARS : [SPAN])),
        "Click a row of the table for its stack and totals.",
        `Unfold a row with ▸ for its single ${say("allocations")}.`,
      ];
  }
}
