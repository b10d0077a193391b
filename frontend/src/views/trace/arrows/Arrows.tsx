/** Arrows across the panels, drawn for more than is in view and moved as everything else is. */

import { type ReadonlySignal, useComputed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { LEFT } from "../../../timeline/model";
import { toPixel } from "../../../timeline/scale";
import { useTransform } from "../../../timeline/useTransform";
import type { Model } from "../model";
import { createArrows } from "./arrows";
import { type Boxes, pathOf } from "./geometry";

interface ArrowsProps {
  model: Model;
  boxes: ReadonlySignal<Boxes>;
  /** Pixels of all panels together. */
  height: ReadonlySignal<number>;
}

/** Farther away than this from what is drawn nothing changes for the eye. */
const FARTHEST = 20_000;

export function Arrows({ model, boxes, height }: ArrowsProps) {
  const { plot, window, reach } = model.timeline;
  const svg = useRef<SVGSVGElement>(null);
  const arrows = useMemo(() => createArrows(model, boxes), [model, boxes]);
  const transform = useComputed(
    () => `translateX(${toPixel(window.value, plot.value.width, reach.value.begin)}px)`,
  );
  // The same element for all arrows, so that what moves it is set up once.
  useTransform(svg as never, transform);
  const { width } = plot.value;
  const wide = Math.round(width * reach.value.times);
  const x = (at: number): number =>
    Math.min(Math.max(toPixel(reach.value, wide, at), -FARTHEST), wide + FARTHEST);
  const shown = arrows.value;
  return (
    <div
      class="timeline-moved trace-arrows"
      style={{
        left: `${LEFT}px`,
        top: 0,
        width: `${width}px`,
        height: `${height.value}px`,
        visibility: shown.length === 0 ? "hidden" : undefined,
      }}
    >
      <svg
        ref={svg}
        width={wide}
        height={height.value}
        role="img"
        aria-label={`${shown.length} arrows`}
        data-testid="trace-arrows"
      >
        <defs>
          <marker
            id="trace-arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0.5L8 4L0 7.5z" class="trace-arrow-head" />
          </marker>
        </defs>
        {shown.map(({ key, kind, from, to }) => (
          <path
            key={key}
            class={`trace-arrow is-${kind}`}
            data-arrow={key}
            d={pathOf(x(from.at), from.y, x(to.at), to.y)}
            marker-end="url(#trace-arrow)"
          />
        ))}
      </svg>
    </div>
  );
}
