/** Every event of the device: scrolled at any length, filtered, stepped through with the arrows. */

import { eventsFile } from "../api";
import { Filtered } from "../components/Filtered";
import { SearchField } from "../components/SearchField";
import { target } from "../flow/questions";
import { count } from "../format";
import { device } from "../state";
import type { List } from "./list";
import { Rows } from "./Rows";
import "./events.css";

export function EventList({ list }: { list: List }) {
  const shown = device.value;
  const of = target.value;
  if (!shown || shown.events === 0) return null;
  return (
    <section class="event-list" aria-label="All events">
      <header>
        <h2>Events</h2>
        <EventFilter list={list} />
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
      <Filtered />
      <Head />
      <Rows list={list} />
    </section>
  );
}

function EventFilter({ list }: { list: List }) {
  return (
    <SearchField
      value={list.typed}
      label="Filter events"
      placeholder="Filter, e.g. action:alloc size>10MiB"
      title="action:alloc, action:segment, size>10MiB, address:0x7f00, step:3, stream:0, pool:private, event>1000, words of a stack frame, and what filters allocations"
      error={list.failure.value}
    />
  );
}

function Head() {
  return (
    <div class="event-row is-head" aria-hidden="true">
      <span class="number">event</span>
      <span class="number">time</span>
      <span>action</span>
      <span class="number">size</span>
      <span>address</span>
      <span>where</span>
    </div>
  );
}
