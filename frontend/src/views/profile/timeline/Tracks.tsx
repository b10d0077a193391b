/** Steps and annotations under the chart, on its axis; a click zooms to one. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { TrackItem } from "../../../api";
import { grouped } from "../../../format";
import { ink } from "../../../theme/theme";
import { type Box, boxAt, layOut, rowsOf } from "./lanes";
import { LEFT, type Model } from "./model";
import { paintBoxes } from "./paint/tracks";
import { itemLines } from "./readout";
import { Tip } from "./Tip";
import { usePaint } from "./usePaint";

const ROW = 20;
const GAP = 2;
/** Rows of annotations seen at once; more are scrolled to, and half of the next says so. */
const ROWS_SEEN = 6;
const SEEN = ROWS_SEEN * (ROW + GAP);

/** The box under the pointer and where to speak of it, in pixels of all tracks together. */
interface Hovered {
  readonly box: Box;
  readonly x: number;
  readonly y: number;
}

interface TrackProps {
  model: Model;
  name: "steps" | "annotations";
  hovered: Signal<Hovered | null>;
}

export function Tracks({ model }: { model: Model }) {
  const tracks = model.loader.tracks.value;
  const hovered = useSignal<Hovered | null>(null);
  if (tracks === null) return null;
  return (
    <div class="timeline-tracks">
      <Track model={model} name="steps" hovered={hovered} />
      <Track model={model} name="annotations" hovered={hovered} />
      {hovered.value === null ? null : <ItemTooltip model={model} {...hovered.value} />}
      {tracks.hidden > 0 ? (
        <p class="quiet small timeline-hidden">
          {grouped(tracks.hidden)} more are too short or too deep to show here: zoom in.
        </p>
      ) : null}
    </div>
  );
}

function Track({ model, name, hovered }: TrackProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scrolled = useSignal(0);
  const items = useComputed<readonly TrackItem[]>(() => model.loader.tracks.value?.[name] ?? []);
  const boxes = useComputed(() => layOut(items.value, model.window.value, model.plot.value.width));
  const height = useComputed(() => Math.max(0, rowsOf(items.value) * (ROW + GAP) - GAP));
  // The canvas is as high as what is seen of it: nesting can be deeper than a canvas may be high.
  const seen = useComputed(() => (height.value < SEEN ? height.value : SEEN + ROW / 2));
  usePaint(canvas, () => {
    const shown = boxes.value;
    const [paints, over, top] = [ink.value, hovered.value, scrolled.value];
    const rows = { left: LEFT, top, rowHeight: ROW, gap: GAP };
    return {
      width: model.width.value,
      height: seen.value,
      paint: (surface) => paintBoxes(surface, shown, rows, paints, over?.box ?? null),
    };
  });
  const find = (event: MouseEvent): Box | null => {
    const [x, y] = [event.offsetX - LEFT, event.offsetY + scrolled.value];
    return boxAt(boxes.value, Math.floor(y / (ROW + GAP)), x);
  };
  if (items.value.length === 0) return null;
  return (
    <div
      class="timeline-track"
      style={{ height: `${seen.value}px` }}
      onScroll={(event) => {
        scrolled.value = event.currentTarget.scrollTop;
        hovered.value = null;
      }}
    >
      <div style={{ height: `${height.value}px` }}>
        <span class="timeline-track-name">{name}</span>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${items.value.length} ${name} in view`}
          style={{ height: `${seen.value}px` }}
          data-testid={`timeline-${name}`}
          onPointerMove={(event) => {
            const box = find(event);
            hovered.value = box === null ? null : { box, x: event.offsetX, y: below(event) };
          }}
          onPointerLeave={() => (hovered.value = null)}
          onClick={(event) => {
            const box = find(event);
            if (box !== null && event.detail < 2) zoomTo(model, box.item);
          }}
          onDblClick={model.back}
        />
      </div>
    </div>
  );
}

/** Pixels from the top of the tracks to just under the pointer. */
function below(event: PointerEvent): number {
  const tracks = (event.currentTarget as HTMLElement).closest(".timeline-tracks");
  return event.clientY - (tracks?.getBoundingClientRect().top ?? 0) + 18;
}

/** One pixel of air at each side keeps its edges in sight. */
function zoomTo(model: Model, item: TrackItem): void {
  const air = (item.end - item.begin) * 0.01;
  model.setWindow({ begin: item.begin - air, end: item.end + air });
}

function ItemTooltip({ model, box, x, y }: Hovered & { model: Model }) {
  return (
    <Tip x={x} y={y} within={model.width.value} testId="timeline-item-tooltip">
      <div class="timeline-tooltip-title">{box.item.name}</div>
      {itemLines(box.item, model.axis.value).map((text) => (
        <div class="quiet" key={text}>
          {text}
        </div>
      ))}
    </Tip>
  );
}
