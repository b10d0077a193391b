/** Above all panels: what is searched for, what has a name, and what stands as it did at first. */

import { useComputed } from "@preact/signals";
import { traceFile } from "../../../api";
import { target } from "../../../flow/questions";
import { FIRST_PANELS, panels, selects } from "../../../state/trace";
import { roundWindow } from "../../../timeline/scale";
import { Bookmarks } from "../marks/Bookmarks";
import type { Model } from "../model";
import { Find } from "./Find";

export function Tools({ model }: { model: Model }) {
  return (
    <div class="trace-tools">
      <Find />
      <span class="right">
        <button
          type="button"
          class="chip"
          aria-pressed={selects.value}
          title="Drag over tracks to sum up what is in there; Alt and drag does too"
          onClick={() => (selects.value = !selects.value)}
        >
          select area
        </button>
        <Bookmarks timeline={model.timeline} />
        <Export model={model} />
        <button
          type="button"
          class="chip"
          disabled={JSON.stringify(panels.value) === JSON.stringify(FIRST_PANELS)}
          title="Panels in their first order and heights"
          onClick={() => (panels.value = FIRST_PANELS)}
        >
          reset panels
        </button>
      </span>
    </div>
  );
}

function Export({ model: { timeline } }: { model: Model }) {
  const of = target.value;
  // A pan changes it every frame: as a signal it is an attribute that is set, and nothing else.
  const href = useComputed(() => {
    const window = roundWindow(timeline.window.value);
    return target.value === null ? "" : traceFile({ ...target.value, ...window });
  });
  if (of === null) return null;
  return (
    <a
      class="chip"
      href={href}
      download
      title="What is in view as a trace that Perfetto and chrome://tracing open, with memory as counters"
    >
      ⤓ trace
    </a>
  );
}
