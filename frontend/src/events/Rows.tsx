/** The rows of the list that are in view; the scroll bar stands for all of them. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { EventRow } from "../api";
import { bytes, count, exactBytes, moment } from "../format";
import { selection } from "../state";
import { listen } from "./gestures";
import { type List, setEvent } from "./list";
import { ROW, scrollFor } from "./scaling";

export function Rows({ list }: { list: List }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current === null ? undefined : listen(box.current, list)), [list]);
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
      class="event-rows"
      ref={box}
      role="listbox"
      aria-label="Events"
      aria-activedescendant={at >= first && at < last ? `event-row-${at}` : undefined}
      tabIndex={0}
      data-testid="events-rows"
    >
      <div style={{ height: `${scaling.height}px` }}>
        <div class="event-rows-seen" style={{ height: `${list.seen.value}px` }}>
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
            <p class="quiet event-none">No event passes this filter.</p>
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
  const onClick = (event: MouseEvent): void => {
    if (row === null) return;
    // The row may scroll out of view, and with it what keys are pressed on.
    (event.currentTarget as HTMLElement).closest<HTMLElement>("[role=listbox]")?.focus();
    setEvent(row.event);
    if (row.allocation !== null) selection.value = { kind: "allocation", id: row.allocation };
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: arrows step and Enter selects, on the whole list
    <div
      id={`event-row-${index}`}
      class={`event-row ${isCurrent ? "is-current" : ""} ${row?.action === "oom" ? "danger" : ""}`}
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
