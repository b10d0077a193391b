/** Tracks of threads or streams in a panel that scrolls by itself, on the axis of the chart. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { counted } from "../../../format";
import { spanColour } from "../../../state/trace";
import { ink } from "../../../theme/theme";
import { Moved } from "../../../timeline/Moved";
import type { Surface } from "../../../timeline/paint/surface";
import { chosenSpan } from "../chosen";
import { Lines } from "../Lines";
import { AreaBox } from "./AreaBox";
import { kindColour, netColour } from "./colours";
import { listen } from "./gestures";
import { Heads } from "./Heads";
import { dividing } from "./items";
import { HEAD, laneBox, type Placed } from "./layout";
import type { Panel } from "./model";
import { type Drawing, paintItems } from "./paint";
import { paintRing } from "./ring";
import { Tooltip } from "./Tooltip";
import { kindOf, spokenOf } from "./words";

interface LanesProps {
  panel: Panel;
  /** Pixels in sight. */
  height: number;
  label: string;
}

export function Lanes({ panel, height, label }: LanesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const glass = useRef<HTMLDivElement>(null);
  const spoken = useSignal("");
  const { timeline, seen, scrolled } = panel;
  const tall = Math.max(panel.height.value, 1);
  const shown = Math.min(height, tall);
  useLayoutEffect(() => {
    seen.value = shown;
  }, [seen, shown]);
  useEffect(() => {
    const [over, around] = [glass.current, scroller.current];
    return over === null || around === null ? undefined : listen(over, around, panel);
  }, [panel]);
  useSignalEffect(() => {
    const place = chosenSpan.value;
    const of = panel.placed.value.find(({ track }) => track.id === place?.track);
    if (place === null || of === undefined) return;
    spoken.value = spokenOf(place, of.track.name);
    const { staying, edge } = panel.inSight.peek();
    if (!staying.includes(of)) reveal(scroller.current, laneBox(of, place.depth), edge);
  });
  useFirstScroll(panel, scroller);
  const words = useComputed(
    () => `${label}: ${counted(panel.items.value?.length ?? 0, "item")} in view`,
  );
  return (
    <div class="trace-lanes" data-body={panel.kind}>
      <div
        class="trace-scroll"
        ref={scroller}
        style={{ height: `${shown}px` }}
        onScroll={(event) => (scrolled.value = event.currentTarget.scrollTop)}
        data-testid={`trace-${panel.kind}`}
      >
        <div class="trace-tall" style={{ height: `${tall}px` }}>
          <div
            class="trace-glass"
            ref={glass}
            style={{ height: `${shown}px` }}
            role="group"
            aria-label={label}
            aria-describedby="trace-keys"
            aria-busy={panel.loading.value}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk from span to span here
            tabIndex={0}
            data-testid={`trace-${panel.kind}-glass`}
          >
            <span class="unseen" role="img" aria-label={words} />
            <p class="unseen" aria-live="polite" data-testid={`trace-${panel.kind}-spoken`}>
              {spoken}
            </p>
            <Moved
              model={timeline}
              frame={() => ({ top: 0, height: seen.value })}
              painter={({ reach, from, width, seen: inView }) => {
                const [of, paints, over] = [panel.items.value, ink.value, panel.pointed.value];
                const { staying, edge, rest } = panel.inSight.value;
                const [byNet, place] = [spanColour.value === "net", chosenSpan.value];
                if (of === null) return null;
                const drawing: Omit<Drawing, "placed"> = {
                  reach,
                  from,
                  width,
                  seen: inView,
                  colourOf: (all, at) =>
                    byNet
                      ? netColour(all.net[at] as number, paints)
                      : kindColour(kindOf(all, at), paints),
                  over: over?.of === of ? over.at : -1,
                };
                const paint = (surface: Surface, placed: readonly Placed[]) => {
                  paintItems(surface, of, { ...drawing, placed }, paints);
                  if (place !== null) paintRing(surface, place, { ...drawing, placed }, paints);
                };
                return (surface) => {
                  under(surface, edge, () => paint(surface, rest));
                  paint(surface, staying);
                };
              }}
              testId={`trace-${panel.kind}-items`}
            />
            <Lines model={timeline} />
            <AreaBox panel={panel} />
          </div>
          <Heads panel={panel} />
        </div>
      </div>
      <Tooltip panel={panel} />
      <Failure panel={panel} />
    </div>
  );
}

function Failure({ panel }: { panel: Panel }) {
  const failure = panel.failure.value;
  if (failure === null) return null;
  return (
    <div class="trace-failure danger" role="alert">
      {failure}{" "}
      <button type="button" class="button" onClick={panel.retry}>
        Try again
      </button>
    </div>
  );
}

/**
 * Calls that the whole program is in say little: with the first items the panel scrolls to where the
 * first track divides, unless something has been looked for by then.
 */
function useFirstScroll(panel: Panel, scroller: { readonly current: HTMLElement | null }): void {
  const isDone = useRef(false);
  useSignalEffect(() => {
    const of = panel.items.value;
    const { staying, edge } = panel.inSight.value;
    const first = panel.placed.value[staying.length];
    if (isDone.current || of === null || first === undefined || panel.seen.value <= 0) return;
    isDone.current = true;
    const depth = dividing(of, first.track.id, first.track.lanes);
    const element = scroller.current;
    if (element === null || element.scrollTop > 0) return;
    const chosen = chosenSpan.peek();
    if (panel.placed.peek().some(({ track }) => track.id === chosen?.track)) return;
    const { top, height } = laneBox(first, depth);
    if (top + 4 * height > edge + panel.seen.peek())
      element.scrollTop = laneBox(first, depth - 2).top - HEAD - edge;
  });
}

/** Scrolls so that a lane is in sight, under what stays at the top. */
function reveal(
  scroller: HTMLElement | null,
  { top, height }: { top: number; height: number },
  edge: number,
) {
  if (scroller === null) return;
  const { scrollTop, clientHeight } = scroller;
  const isSeen = top >= scrollTop + edge && top + height <= scrollTop + clientHeight;
  if (!isSeen) scroller.scrollTop = top - edge - (clientHeight - edge - height) / 2;
}

/** Paints nothing above a height. */
function under({ context, width, height }: Surface, edge: number, paint: () => void): void {
  context.save();
  context.beginPath();
  context.rect(0, edge, width, height - edge);
  context.clip();
  paint();
  context.restore();
}
