/** Curves of memory, one a step, on an axis of time since each began. */

import type { Signal } from "@preact/signals";
import type { StepCurve, TraceSteps } from "../../../api";
import { bytes, duration, exactBytes } from "../../../format";
import { LEFT } from "../../../timeline/model";
import { byteTicks, timeTicks } from "../../../timeline/ticks";

const HEIGHT = 190;
const TOP = 10;
const BELOW = 22;
const RIGHT = 16;
/** Pixels that a label of the axis needs. */
const LABEL = 110;

interface CurvesProps {
  curves: TraceSteps;
  odd: string | null;
  /** Id of the step that is pointed at. */
  over: Signal<string | null>;
  width: number;
}

export function Curves({ curves, odd, over, width }: CurvesProps) {
  const wide = Math.max(width - LEFT - RIGHT, 1);
  const tall = HEIGHT - TOP - BELOW;
  const top = Math.max(...curves.curves.flatMap(({ highest }) => highest), 1) * 1.06;
  const x = (offset: number) => LEFT + (offset / Math.max(curves.longest, 1)) * wide;
  const y = (value: number) => TOP + tall * (1 - value / top);
  const times = timeTicks({ begin: 0, end: curves.longest }, Math.max(2, Math.floor(wide / LABEL)));
  const shown = over.value ?? odd;
  const named = curves.steps.find(({ id }) => id === shown);
  // What stands out is drawn last, over all others.
  const order = [...curves.curves].sort((a, b) => Number(a.id === shown) - Number(b.id === shown));
  return (
    <figure class="trace-curves" data-testid="trace-curves">
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`Memory within ${order.length} steps`}
      >
        {byteTicks(top, 5).map(({ value, label }) => (
          <g key={value}>
            <line class="trace-grid" x1={LEFT} x2={LEFT + wide} y1={y(value)} y2={y(value)} />
            <text class="trace-tick" x={LEFT - 8} y={y(value)} text-anchor="end" dy="0.35em">
              {label}
            </text>
          </g>
        ))}
        {times.ticks.map(({ value, label }) => (
          <text key={value} class="trace-tick" x={x(value)} y={HEIGHT - 6} text-anchor="middle">
            {label}
          </text>
        ))}
        {order.map((curve) => (
          <path
            key={curve.id}
            d={pathOf(curve, curves, x, y)}
            class={classOf(curve.id, shown, odd)}
            data-curve={curve.id}
            onPointerEnter={() => (over.value = curve.id)}
            onPointerLeave={() => (over.value = null)}
          />
        ))}
      </svg>
      <figcaption class="quiet small">
        {named === undefined ? (
          "Point at a curve for its step"
        ) : (
          <span title={exactBytes(named.peak)}>
            {named.name}: {duration(named.end - named.begin)}, peak {bytes(named.peak)}
            {named.id === odd ? ", differs most from the others" : ""}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function classOf(id: string, shown: string | null, odd: string | null): string {
  if (id === shown) return id === odd ? "trace-curve is-odd" : "trace-curve is-over";
  return "trace-curve";
}

/** The most of a pixel, then what it leaves, held until the next one. */
function pathOf(
  { id, offset, highest, last }: StepCurve,
  { steps, pixel }: TraceSteps,
  x: (offset: number) => number,
  y: (value: number) => number,
): string {
  const of = steps.find((step) => step.id === id);
  const parts: string[] = [];
  offset.forEach((at, index) => {
    const [from, most, left] = [x(at), y(highest[index] as number), y(last[index] as number)];
    parts.push(
      `${index === 0 ? "M" : "H"}${from.toFixed(1)}${index === 0 ? ` ${most.toFixed(1)}` : ""}`,
    );
    parts.push(`V${most.toFixed(1)}H${x(at + pixel).toFixed(1)}V${left.toFixed(1)}`);
  });
  if (of !== undefined) parts.push(`H${x(of.end - of.begin).toFixed(1)}`);
  return parts.join("");
}
