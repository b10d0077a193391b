/** The event that the cursor is on: what happened, and what the source knows of it. */

import { useEffect, useMemo } from "preact/hooks";
import { type EventRow, getEvents } from "../api";
import { eventFacts, eventTitle } from "../events/about";
import { setEvent } from "../events/list";
import { target } from "../flow/questions";
import { exactBytes } from "../format";
import { about, cursor, device, selection } from "../state";
import { resource } from "../state/resource";
import { say } from "../state/say";
import type { Model } from "../timeline/model";
import { instantTitle } from "../timeline/readout";

export function AtCursor({ model }: { model: Model }) {
  const asked = useMemo(
    () =>
      resource(() => {
        const event = model.cursorEvent.value;
        if (!target.value || event === null || event < 0) return null;
        return { ...target.value, filter: "", offset: event, limit: 1, details: 1 as const };
      }, getEvents),
    [model],
  );
  useEffect(() => asked.dispose, [asked]);
  const event = model.cursorEvent.value;
  const { data, error, loading } = asked.answer.value;
  // Beside an error nothing stands of the event before.
  const row = (error === null && data?.rows[0]) || null;
  // A link may name an event that there is not.
  if (event === null || event >= (device.value?.events ?? 0)) return null;
  return (
    <section class="at-cursor" aria-label="Event at the cursor" aria-busy={loading}>
      <p class="at-cursor-what">
        <Step by={-1} event={event} />
        <Step by={1} event={event} />
        {event < 0 && <span class="quiet">Before the first event</span>}
        {event >= 0 && row && <Happened row={row} />}
        {error && (
          <span class="danger" role="alert">
            {error}
          </span>
        )}
      </p>
      {event >= 0 && row && <Facts row={row} />}
    </section>
  );
}

/** To the event before or after it. */
function Step({ by, event }: { by: 1 | -1; event: number }) {
  const last = (device.value?.events ?? 0) - 1;
  const label = by < 0 ? "Previous event" : "Next event";
  return (
    <button
      type="button"
      class="button"
      aria-label={label}
      title={label}
      disabled={by < 0 ? event <= 0 : event >= last}
      onClick={() => setEvent(event + by)}
    >
      {by < 0 ? "‹" : "›"}
    </button>
  );
}

function Happened({ row }: { row: EventRow }) {
  const id = row.allocation;
  const title = row.size === null ? undefined : exactBytes(row.size);
  const isFailure = row.action === "oom";
  return (
    <>
      <span class="quiet">
        {cursor.value === null ? "peak: " : ""}
        {instantTitle(row.event, row.time)}
      </span>
      {id === null ? (
        <strong class={isFailure ? "danger" : undefined} title={title}>
          {eventTitle(row)}
        </strong>
      ) : (
        <button
          type="button"
          class="link"
          title={`${title ?? ""} – click to have the ${say("allocation")} explained`}
          onClick={() => (selection.value = { kind: "allocation", id })}
        >
          {eventTitle(row)}
        </button>
      )}
    </>
  );
}

function Facts({ row }: { row: EventRow }) {
  return (
    <dl>
      {eventFacts(row, about.value?.basis ?? "requested").map(({ word, value, title }) => (
        <div key={word} title={title}>
          <dt>{word}</dt>
          <dd class="clip">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
