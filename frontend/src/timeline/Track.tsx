/** Rows of steps, modules or annotations: pointed at, walked with keys, zoomed to, explained. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { TrackItem } from "../api";
import { selection } from "../state";
import { ink } from "../theme/theme";
import { boxAt, layOut, rowsOf } from "./lanes";
import { Moved } from "./Moved";
import { LEFT, type Model } from "./model";
import { paintBoxes } from "./paint/tracks";
import { keyOnTrack, open } from "./trackKeys";

const ROW = 20;
const GAP = 2;
/** Rows of a track seen at once; more are scrolled to, and half of the next says so. */
const ROWS_SEEN = 6;
const SEEN = ROWS_SEEN * (ROW + GAP);
/** Pixels from the top of what is pointed at to what is said of it. */
const BELOW = 22;

export type TrackName = "steps" | "modules" | "annotations";

const LABELS: Readonly<Record<TrackName, string>> = {
  steps: "Steps",
  modules: "HLO modules",
  annotations: "Annotations",
};

/** What the pointer is over or keys have reached. */
export interface Pointed {
  readonly track: TrackName;
  readonly item: TrackItem;
  /** Pixels of all tracks together to speak of it at; across null: in its middle. */
  readonly x: number | null;
  readonly y: number;
}

interface TrackProps {
  model: Model;
  name: TrackName;
  pointed: Signal<Pointed | null>;
}

export function Track({ model, name, pointed }: TrackProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const scrolled = useSignal(0);
  const items = useComputed<readonly TrackItem[]>(() => model.loader.tracks.value?.[name] ?? []);
  const height = useComputed(() => Math.max(0, rowsOf(items.value) * (ROW + GAP) - GAP));
  // The canvas is as high as what is seen of it: nesting can be deeper than a canvas may be high.
  const seen = useComputed(() => (height.value < SEEN ? height.value : SEEN + ROW / 2));
  const outlined = useComputed(() => {
    const over = pointed.value?.track === name ? pointed.value.item.id : null;
    const chosen = selection.value?.kind === "span" ? selection.value.id : null;
    return { over, chosen };
  });
  const find = (event: MouseEvent): TrackItem | null => {
    const [x, y] = [event.offsetX - LEFT, event.offsetY + scrolled.value];
    const boxes = layOut(items.value, model.window.peek(), model.plot.peek().width);
    return boxAt(boxes, Math.floor(y / (ROW + GAP)), x)?.item ?? null;
  };
  /** Keys have reached an item: its row is scrolled to, and it is spoken of under it. */
  const reach = (item: TrackItem) => {
    const element = scroller.current;
    if (element === null) return;
    const top = (item.depth ?? 0) * (ROW + GAP);
    const isSeen = top >= element.scrollTop && top + ROW <= element.scrollTop + seen.value;
    if (!isSeen) element.scrollTop = top - (seen.value - ROW) / 2;
    pointed.value = {
      track: name,
      item,
      x: null,
      y: element.offsetTop + top - element.scrollTop + BELOW,
    };
  };
  if (items.value.length === 0) return null;
  return (
    <div
      class="timeline-track"
      ref={scroller}
      style={{ height: `${seen.value}px` }}
      role="group"
      aria-label={LABELS[name]}
      aria-describedby="timeline-track-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk from one to the next here
      tabIndex={0}
      data-testid={`timeline-${name}-track`}
      onKeyDown={(event) => {
        const from = pointed.value?.track === name ? pointed.value.item : null;
        if (keyOnTrack(event, model, items.value, from, reach)) event.preventDefault();
      }}
      onBlur={() => (pointed.value = null)}
      onScroll={(event) => {
        scrolled.value = event.currentTarget.scrollTop;
        // Keys scroll to what they reach; a wheel takes what the pointer was over away.
        if (pointed.value?.x !== null) pointed.value = null;
      }}
    >
      <div style={{ height: `${height.value}px` }}>
        <span class="timeline-track-name">{name}</span>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are listened to around it */}
        <div
          class="timeline-boxes"
          role="img"
          aria-label={`${items.value.length} ${name} in view`}
          style={{ height: `${seen.value}px` }}
          data-testid={`timeline-${name}`}
          onPointerMove={(event) => {
            const item = find(event);
            const { offsetX: x } = event;
            pointed.value = item === null ? null : { track: name, item, x, y: below(event) };
          }}
          onPointerLeave={() => (pointed.value = null)}
          onClick={(event) => {
            const item = find(event);
            if (item !== null && event.detail < 2) open(model, item);
          }}
          onDblClick={model.back}
        >
          <Moved
            model={model}
            frame={() => ({ top: 0, height: seen.value })}
            painter={({ reach, from, width, seen: inView }) => {
              const boxes = layOut(items.value, reach, width);
              const [paints, marked, top] = [ink.value, outlined.value, scrolled.value];
              const rows = { left: from, top, rowHeight: ROW, gap: GAP, seen: inView };
              return (surface) => paintBoxes(surface, boxes, rows, paints, marked);
            }}
            testId={`timeline-${name}-boxes`}
          />
        </div>
      </div>
    </div>
  );
}

/** Pixels from the top of the tracks to just under the pointer. */
function below(event: PointerEvent): number {
  const tracks = (event.currentTarget as HTMLElement).closest(".timeline-tracks");
  return event.clientY - (tracks?.getBoundingClientRect().top ?? 0) + 18;
}
