/** Steps and annotations under the chart, on its axis; a click zooms to one. */

import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { TrackItem } from "../../../api";
import { grouped } from "../../../format";
import { ink } from "../../../theme/theme";
import { type Box, boxAt, layOut, rowsOf } from "./lanes";
import { LEFT, type Model } from "./model";
import { paintBoxes } from "./paint/tracks";
import { itemLines } from "./readout";
import { usePaint } from "./usePaint";

const ROW = 20;
const GAP = 2;
/** Rows of annotations seen at once; more are scrolled to. */
const ROWS_SEEN = 6;

interface TrackProps {
  model: Model;
  name: "steps" | "annotations";
}

export function Tracks({ model }: { model: Model }) {
  const tracks = model.loader.tracks.value;
  if (tracks === null) return null;
  return (
    <div class="timeline-tracks">
      <Track model={model} name="steps" />
      <Track model={model} name="annotations" />
      {tracks.hidden > 0 ? (
        <p class="quiet small timeline-hidden">
          {grouped(tracks.hidden)} more are too short or too deep to show here: zoom in.
        </p>
      ) : null}
    </div>
  );
}

function Track({ model, name }: TrackProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const items = useComputed<readonly TrackItem[]>(() => model.loader.tracks.value?.[name] ?? []);
  const hovered = useSignal<{ box: Box; x: number; y: number } | null>(null);
  const boxes = useComputed(() => layOut(items.value, model.window.value, model.plot.value.width));
  const height = useComputed(() => Math.max(0, rowsOf(items.value) * (ROW + GAP) - GAP));
  usePaint(canvas, () => {
    const shown = boxes.value;
    const [paints, over] = [ink.value, hovered.value];
    return {
      width: model.width.value,
      height: height.value,
      paint: (surface) =>
        paintBoxes(
          surface,
          shown,
          { left: LEFT, rowHeight: ROW, gap: GAP },
          paints,
          over?.box ?? null,
        ),
    };
  });
  const find = (event: MouseEvent): Box | null => {
    const [x, y] = [event.offsetX - LEFT, event.offsetY];
    return boxAt(boxes.value, Math.floor(y / (ROW + GAP)), x);
  };
  if (items.value.length === 0) return null;
  const seen = ROWS_SEEN * (ROW + GAP) - GAP;
  return (
    <div class="timeline-track" style={{ maxHeight: `${seen}px` }}>
      <span class="timeline-track-name">{name}</span>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${items.value.length} ${name} in view`}
        style={{ height: `${height.value}px` }}
        data-testid={`timeline-${name}`}
        onPointerMove={(event) => {
          const box = find(event);
          hovered.value = box === null ? null : { box, x: event.offsetX, y: event.offsetY };
        }}
        onPointerLeave={() => (hovered.value = null)}
        onClick={(event) => {
          const box = find(event);
          if (box !== null && event.detail < 2) zoomTo(model, box.item);
        }}
        onDblClick={model.back}
      />
      {hovered.value === null ? null : <ItemTooltip model={model} {...hovered.value} />}
    </div>
  );
}

/** One pixel of air at each side keeps its edges in sight. */
function zoomTo(model: Model, item: TrackItem): void {
  const air = (item.end - item.begin) * 0.01;
  model.setWindow({ begin: item.begin - air, end: item.end + air });
}

function ItemTooltip({ model, box, x }: { model: Model; box: Box; x: number; y: number }) {
  const isLeft = x - LEFT > model.plot.value.width / 2;
  return (
    <div
      class={`timeline-tooltip is-item ${isLeft ? "is-left" : ""}`}
      style={{ left: `${x + (isLeft ? -12 : 12)}px` }}
      data-testid="timeline-item-tooltip"
    >
      <div class="timeline-tooltip-title">{box.item.name}</div>
      {itemLines(box.item, model.axis.value).map((text) => (
        <div class="quiet" key={text}>
          {text}
        </div>
      ))}
    </div>
  );
}
