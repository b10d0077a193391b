/** One bar: the buffers in one order, and over it what is pointed at and what is selected. */

import { useRef } from "preact/hooks";
import { ink } from "../../theme/theme";
import { usePaint } from "../../timeline/usePaint";
import type { BarsModel } from "./barsModel";
import { spanOf } from "./orders";
import { paintBar, paintFrame } from "./paintBars";

/** Pixels. */
export const TALL = 22;

export function Bar({ of, index, name }: { of: BarsModel; index: number; name: string }) {
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  usePaint(base, () => {
    const [bars, order, colours] = [of.bars.value, of.drawn.value?.orders[index], of.colours.value];
    if (bars === null || order === undefined) return null;
    return {
      width: of.width.value,
      height: TALL,
      paint: (surface) => paintBar(surface, bars, order, colours),
    };
  });
  usePaint(over, () => {
    const order = of.drawn.value?.orders[index];
    if (order === undefined) return null;
    const { total } = of.drawn.value as { total: number };
    const paints = ink.value;
    const frames = [
      { row: of.selected.value, colour: paints.accent },
      { row: of.framed.value, colour: paints.text },
    ].flatMap(({ row, colour }) => {
      const span = row === null ? null : spanOf(order, row, total);
      return span === null ? [] : [{ span, colour }];
    });
    const paint = (surface: Parameters<typeof paintFrame>[0]) => {
      for (const { span, colour } of frames)
        paintFrame(surface, span, total, colour, paints.background);
    };
    return { width: of.width.value, height: TALL, paint: frames.length === 0 ? null : paint };
  });
  return (
    <div class="bar-row">
      <span class="quiet small">{name}</span>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are listened to around it */}
      <div
        class="bar"
        role="img"
        aria-label={`Buffers ${name}`}
        data-testid={`bar-${index}`}
        onPointerMove={(event) => of.point(index, event.offsetX)}
        onPointerLeave={() => (of.pointed.value = null)}
        onClick={of.select}
      >
        <canvas ref={base} />
        <canvas ref={over} class="bar-over" data-testid={`bar-over-${index}`} />
      </div>
    </div>
  );
}
