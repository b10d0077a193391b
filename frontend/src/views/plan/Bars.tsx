/** The buffers alive at the cursor as three bars: in program order, by size, by padding. */

import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { bytes, counted, exactBytes } from "../../format";
import { hasHistory } from "../../state";
import { cursor } from "../../state/view";
import type { Model } from "../../timeline/model";
import { Bar } from "./Bar";
import { BarsTip } from "./BarsTip";
import { type BarsModel, createBars } from "./barsModel";
import { tell } from "./bufferWords";
import { REST, step } from "./orders";
import "./bars.css";

/** Of less padding than this nothing is seen. */
const SEEN = 0.001;
const NAMES = ["in program order", "by size", "by padding"] as const;

export function Bars({ model }: { model: Model }) {
  const of = useMemo(() => createBars(model), [model]);
  useEffect(() => of.dispose, [of]);
  const { data, error, loading } = of.answer.value;
  if (error) {
    return (
      <p class="danger" role="alert">
        {error}
      </p>
    );
  }
  if (data === null || data.count === 0 || data.total === 0) return null;
  const padding = data.bytes.reduce((sum, size, row) => sum + size - (data.unpadded[row] ?? 0), 0);
  return (
    <section class="bars" aria-label="Buffers alive" aria-busy={loading}>
      <h2>
        {headWords()}{" "}
        <span class="quiet" title={exactBytes(data.total)} data-bytes={data.total}>
          {bytes(data.total)} in {counted(data.count, "buffer")}
          {padding >= SEEN * data.total && "; what is paler is padding"}
        </span>
      </h2>
      <Rows of={of} />
    </section>
  );
}

function headWords(): string {
  if (!hasHistory.value) return "Buffers held all the time";
  return cursor.value === null ? "Buffers alive at the peak" : "Buffers alive at the cursor";
}

function Rows({ of }: { of: BarsModel }) {
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const bars = [...(frame.current?.querySelectorAll<HTMLElement>(".bar") ?? [])];
    const [element, last] = [bars[0], bars.at(-1)];
    if (!element || !last) return;
    const measure = () => {
      of.width.value = element.clientWidth;
      of.place.value = { left: element.offsetLeft, bottom: last.offsetTop + last.offsetHeight };
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [of]);
  return (
    <div
      class="bar-rows"
      ref={frame}
      role="group"
      aria-label="Bars of buffers"
      aria-describedby="bars-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk from one buffer to the next here
      tabIndex={0}
      onKeyDown={(event) => {
        if (keyOn(event, of)) event.preventDefault();
      }}
      onBlur={() => (of.pointed.value = null)}
    >
      {NAMES.map((name, index) => (
        <Bar key={name} of={of} index={index} name={name} />
      ))}
      <BarsTip of={of} top={() => frame.current?.getBoundingClientRect().top ?? 0} />
      <p class="unseen" id="bars-keys">
        Left and right arrows go from buffer to buffer, up and down to another order, Enter has it
        explained.
      </p>
      <Spoken of={of} />
    </div>
  );
}

/** Said of what keys have reached. */
function Spoken({ of }: { of: BarsModel }) {
  const [bars, row, drawn] = [of.bars.value, of.row.value, of.drawn.value];
  const isReached = of.pointed.value?.x === null;
  let words = "";
  if (isReached && bars && drawn && row !== null) {
    words =
      row === REST
        ? `${counted(drawn.rest.count, "smaller buffer")}, ${bytes(drawn.rest.bytes)}`
        : [tell(bars, row).title, ...tell(bars, row).rows.map((pair) => pair.join(" "))].join(", ");
  }
  return (
    <p class="unseen" aria-live="polite" data-testid="bars-spoken">
      {words}
    </p>
  );
}

function keyOn(event: KeyboardEvent, of: BarsModel): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const drawn = of.drawn.peek();
  if (drawn === null) return false;
  const now = of.pointed.peek();
  const bar = now?.bar ?? 0;
  if (event.key === "Enter" || event.key === " ") {
    of.select();
    return now !== null;
  }
  const hasRest = drawn.rest.count > 0;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const next = bar + (event.key === "ArrowUp" ? -1 : 1);
    const row = of.row.peek();
    const order = drawn.orders[next];
    if (now === null || row === null || order === undefined) return true;
    of.pointed.value = { bar: next, place: row === REST ? REST : order.rows.indexOf(row), x: null };
    return true;
  }
  const order = drawn.orders[bar];
  if (order === undefined) return false;
  const place = step(order, now?.place ?? null, event.key, hasRest);
  if (place === null || (now !== null && place === now.place)) {
    return ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key);
  }
  of.pointed.value = { bar, place, x: null };
  return true;
}
