/** Every event of the device: scrolled at any length, filtered, stepped through with the arrows. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type EventRow, eventsFile } from "../../../api";
import { target } from "../../../flow/questions";
import { bytes, count, exactBytes, moment } from "../../../format";
import { device, selection } from "../../../state";
import type { Model } from "../model";
import { setEvent } from "./list";
import { ROW, scrollFor, topAt } from "./scaling";

const PAUSE_MS = 300;

export function EventList({ model }: { model: Model }) {
  const { list } = model;
  const shown = device.value;
  const of = target.value;
  if (!shown || shown.events === 0) return null;
  return (
    <section class="segments-events" aria-label="All events">
      <header>
        <h2>Events</h2>
        <EventFilter model={model} />
        <span class="quiet small" data-testid="events-count">
          {list.count.value === shown.events
            ? count(shown.events)
            : `${count(list.count.value)} of ${count(shown.events)}`}
        </span>
        {of && (
          <a
            class="button"
            href={eventsFile(of, list.filter.value)}
            download
            title="The events that pass as a file, up to 200 000"
          >
            ⤓ CSV
          </a>
        )}
      </header>
      <Head />
      <Rows model={model} />
    </section>
  );
}

function EventFilter({ model }: { model: Model }) {
  const { filter, failure } = model.list;
  const [text, setText] = useState(filter.value);
  // A link or another recording changes it from outside.
  useEffect(() => setText(filter.value), [filter.value]);
  useEffect(() => {
    const timer = setTimeout(() => {
      filter.value = text.trim();
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span class="filter">
      <input
        class="field"
        type="search"
        data-shortcut="/"
        placeholder="Filter, e.g. action:alloc size>10MiB"
        aria-label="Filter events"
        aria-invalid={failure.value !== null}
        title="action:alloc, action:segment, size>10MiB, address:0x7f00, step:3, stream:0, pool:private, event>1000, words of a stack frame, and what filters allocations"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {failure.value && (
        <span class="wrong" role="alert">
          {failure.value}
        </span>
      )}
    </span>
  );
}

function Head() {
  return (
    <div class="segments-event is-head" aria-hidden="true">
      <span class="number">event</span>
      <span class="number">time</span>
      <span>action</span>
      <span class="number">size</span>
      <span>address</span>
      <span>made at</span>
    </div>
  );
}

function Rows({ model }: { model: Model }) {
  const { list } = model;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current === null ? undefined : listen(box.current, model)), [model]);
  const scaling = list.scaling.value;
  const top = list.top.value;
  // The scroll bar follows the list; what it then reports is known already.
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = scrollFor(scaling, top);
  }, [scaling, top]);
  const first = Math.floor(top);
  const last = Math.min(list.count.value, Math.ceil(top + list.seen.value / ROW));
  const rows: number[] = [];
  for (let row = first; row < last; row++) rows.push(row);
  const at = list.passes.value ? list.row.value : -1;
  return (
    <div
      class="segments-rows"
      ref={box}
      role="listbox"
      aria-label="Events"
      aria-activedescendant={at >= first && at < last ? `segments-event-${at}` : undefined}
      tabIndex={0}
      data-testid="events-rows"
    >
      <div style={{ height: `${scaling.height}px` }}>
        <div class="segments-rows-seen" style={{ height: `${list.seen.value}px` }}>
          {rows.map((row) => (
            <Row
              key={row}
              index={row}
              at={(row - top) * ROW}
              isCurrent={row === at}
              row={list.rowAt(row)}
              total={list.count.value}
            />
          ))}
          {list.isKnown.value && list.count.value === 0 && (
            <p class="quiet segments-none">No event passes this filter.</p>
          )}
        </div>
      </div>
    </div>
  );
}

interface RowProperties {
  index: number;
  at: number;
  isCurrent: boolean;
  row: EventRow | null;
  total: number;
}

function Row({ index, at, isCurrent, row, total }: RowProperties) {
  const onClick = (): void => {
    if (row === null) return;
    setEvent(row.event);
    if (row.allocation !== null) selection.value = { kind: "allocation", id: row.allocation };
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: arrows step and Enter selects, on the whole list
    <div
      id={`segments-event-${index}`}
      class={`segments-event ${isCurrent ? "is-current" : ""} ${row?.action === "oom" ? "danger" : ""}`}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      aria-posinset={index + 1}
      aria-setsize={total}
      style={{ transform: `translateY(${at}px)` }}
      onClick={onClick}
      data-event={row?.event}
    >
      {row === null ? (
        <span class="quiet">…</span>
      ) : (
        <>
          <span class="number">{count(row.event)}</span>
          <span class="number quiet">{row.time === null ? "" : moment(row.time, 0)}</span>
          <span>{WORDS[row.action] ?? row.action}</span>
          <span class="number" title={row.size === null ? undefined : exactBytes(row.size)}>
            {row.size === null ? "" : bytes(row.size)}
          </span>
          <code>{row.address}</code>
          <span class="clip quiet" title={noteOf(row)}>
            {row.label}
          </span>
        </>
      )}
    </div>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  alloc: "alloc",
  free_requested: "free requested",
  free_completed: "free completed",
  segment_alloc: "segment alloc",
  segment_free: "segment free",
  segment_map: "segment map",
  segment_unmap: "segment unmap",
  oom: "out of memory",
  user_defined: "user defined",
};

function noteOf(row: EventRow): string {
  const notes = [row.label, row.pool, row.stream, row.compile_context, row.user_metadata];
  return notes.filter(Boolean).join(" · ");
}

function listen(box: HTMLElement, model: Model): () => void {
  const { list } = model;
  const stop = new AbortController();
  const on = <Type extends keyof HTMLElementEventMap>(
    type: Type,
    handle: (event: HTMLElementEventMap[Type]) => void,
  ) => box.addEventListener(type, handle, { signal: stop.signal, passive: false });
  const observer = new ResizeObserver(() => {
    if (box.clientHeight > 0) list.seen.value = box.clientHeight;
  });
  observer.observe(box);
  on("scroll", () => {
    const scaling = list.scaling.peek();
    // Dragging the bar; what this list itself has set is within a pixel.
    if (Math.abs(box.scrollTop - scrollFor(scaling, list.top.peek())) < 1.5) return;
    list.top.value = topAt(scaling, box.scrollTop);
  });
  on("wheel", (event) => {
    if (event.ctrlKey) return;
    const { last } = list.scaling.peek();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY : event.deltaY / ROW;
    const next = Math.min(Math.max(list.top.peek() + lines, 0), last);
    if (next === list.top.peek()) return; // at an end the page scrolls on
    event.preventDefault();
    list.top.value = next;
  });
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(list.seen.peek() / ROW) - 1);
    const act = {
      ArrowDown: () => list.step(1),
      ArrowUp: () => list.step(-1),
      PageDown: () => list.step(page),
      PageUp: () => list.step(-page),
      Home: () => void list.go(0),
      End: () => void list.go(list.count.peek() - 1),
      Enter: () => {
        const id = list.current.peek()?.allocation;
        if (id) selection.value = { kind: "allocation", id };
      },
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  return () => {
    observer.disconnect();
    stop.abort();
  };
}
