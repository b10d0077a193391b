/** What is around a panel: its head with what folds and moves it, and an edge that resizes it. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Panel, PanelKey } from "../../state/trace";
import { panels } from "../../state/trace";
import { fold, heightOf, isSizable, LEAST, MOST, moveTo, resize } from "./panelling";

const STEP = 20;

interface FrameProps {
  panel: Panel;
  /** Its place among the panels. */
  at: number;
  title: string;
  tools: ComponentChildren;
  children: ComponentChildren;
}

export function Frame({ panel, at, title, tools, children }: FrameProps) {
  const { key, isFolded } = panel;
  return (
    <section
      class="trace-panel"
      aria-label={title}
      data-panel={key}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
      }}
      onDrop={(event) => {
        const moved = event.dataTransfer?.getData(DRAGGED);
        if (moved) moveTo(moved as PanelKey, at);
      }}
    >
      <div class="trace-head" data-body={isFolded ? key : undefined}>
        <button
          type="button"
          class="plain trace-title"
          aria-expanded={!isFolded}
          onClick={() => fold(panel)}
        >
          <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span> {title}
        </button>
        {isFolded ? null : tools}
        <Movers panel={panel} at={at} title={title} />
      </div>
      {isFolded ? null : children}
      {isFolded || !isSizable(panel) ? null : <Edge panel={panel} title={title} />}
    </section>
  );
}

/** The kind of what is dragged: nothing else may be dropped on a panel. */
const DRAGGED = "application/x-memory-panel";

function Movers({ panel: { key }, at, title }: { panel: Panel; at: number; title: string }) {
  return (
    <span class="trace-movers">
      <button
        type="button"
        class="plain"
        aria-label={`Move ${title} up`}
        title="Move up"
        disabled={at === 0}
        onClick={() => moveTo(key, at - 1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="plain"
        aria-label={`Move ${title} down`}
        title="Move down"
        disabled={at === panels.value.length - 1}
        onClick={() => moveTo(key, at + 1)}
      >
        ↓
      </button>
      <span
        class="trace-handle"
        draggable
        title="Drag to another place"
        onDragStart={(event) => event.dataTransfer?.setData(DRAGGED, key)}
        aria-hidden="true"
      >
        ⠿
      </span>
    </span>
  );
}

/** The lower edge: dragged, or moved with the arrow keys. */
function Edge({ panel, title }: { panel: Panel; title: string }) {
  const from = useRef<{ y: number; height: number } | null>(null);
  const height = heightOf(panel);
  return (
    <div
      class="trace-edge"
      role="separator"
      aria-orientation="horizontal"
      aria-label={`Height of ${title}`}
      aria-valuenow={height}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onPointerDown={(event) => {
        from.current = { y: event.clientY, height };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (from.current) resize(panel, from.current.height + event.clientY - from.current.y);
      }}
      onPointerUp={() => {
        from.current = null;
      }}
      onPointerCancel={() => {
        from.current = null;
      }}
      onKeyDown={(event) => {
        const by = { ArrowUp: -STEP, ArrowDown: STEP }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        resize(panel, height + by);
      }}
    />
  );
}
