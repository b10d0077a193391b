/** Explains whatever is selected; with nothing selected, what can be. */

import { hasHistory } from "../state/recording";
import { selection } from "../state/view";
import { Allocation } from "./Allocation";
import { Group } from "./Group";
import { Span } from "./Span";
import "./inspector.css";

export function Inspector() {
  const chosen = selection.value;
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
      {chosen === null && <Nothing />}
      {chosen?.kind === "allocation" && <Allocation />}
      {chosen?.kind === "span" && <Span />}
      {chosen?.kind === "group" && <Group groupBy={chosen.by} id={chosen.key} />}
    </aside>
  );
}

function Nothing() {
  return (
    <div class="quiet hints">
      <p>Select something to have it explained here.</p>
      <ul>
        {hasHistory.value && (
          <>
            <li>Click the chart to see what was alive at that moment.</li>
            <li>Drag over the chart to zoom in, Esc to come back.</li>
            <li>Click a step or an annotation to zoom to it and to see what memory did in it.</li>
          </>
        )}
        <li>Click a row of the table for its stack and totals.</li>
        <li>Unfold a row with ▸ for its single allocations.</li>
      </ul>
    </div>
  );
}
