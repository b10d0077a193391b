/** The Segments view: numbers, the map, what it was over time beneath; all events beside or below. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { NoDevice } from "../../components/NoDevice";
import { EventList } from "../../events/EventList";
import { bytes, count, counted, exactBytes } from "../../format";
import { device, hasHistory, selection } from "../../state";
import { REST_KEY } from "../../theme/palette";
import { Chart } from "../../timeline/Chart";
import { Legend } from "../../timeline/Legend";
import { Minimap } from "../../timeline/Minimap";
import { Notices } from "../../timeline/Timeline";
import { Tracks } from "../../timeline/Tracks";
import { useSizes } from "../../timeline/useSizes";
import { Bar } from "./Bar";
import { changed, reveal, SegmentMap, selected } from "./map/Map";
import { create, type Model } from "./model";
import { Others } from "./Others";
import { Pools } from "./pools/Pools";
import { State } from "./State";
import { Stack } from "./stack/Stack";
import "../../picture/picture.css";
import "../../components/numbers.css";
import "../../timeline/timeline.css";
import "./segments.css";

export function Segments() {
  const shown = device.value;
  if (!shown) {
    return <NoDevice />;
  }
  // What holds no segment has no state to look at, at any moment.
  if (!shown.segments) {
    return (
      <div class="segments">
        <NoSegments />
      </div>
    );
  }
  return <Shown key={shown.key} />;
}

function Shown() {
  const model = useMemo(create, []);
  useEffect(() => model.dispose, [model]);
  useEffect(() => listen(model), [model]);
  useSignalEffect(() => reveal(model, changed(model)));
  // Once a selection: afterwards the map goes with the events.
  const revealed = useRef<typeof selection.value>(null);
  useSignalEffect(() => {
    const found = selected(model);
    if (selection.value === revealed.current || found.length === 0) return;
    revealed.current = selection.value;
    reveal(model, found);
  });
  const state = model.state.value;
  const isWithout = state !== null && state.segments.length === 0;
  return (
    <div class="segments">
      <State model={model} />
      <div class="segments-main">
        <div class="segments-now">
          <Bar model={model} />
          <Passing model={model} />
          {isWithout ? <NoneNow /> : null}
          <SegmentMap model={model} />
          <Hidden model={model} />
          <Others model={model} />
        </div>
        {hasHistory.value && <Over model={model} />}
        <EventList list={model.list} />
        <div class="segments-lower">
          {hasHistory.value && <Stack model={model} />}
          <Pools model={model} />
        </div>
      </div>
    </div>
  );
}

/** Reserved, allocated and fragmentation on the axis that all views share. */
function Over({ model }: { model: Model }) {
  const { timeline } = model;
  const { section, stage } = useSizes(timeline);
  return (
    <section class="timeline segments-over" ref={section} aria-label="Memory over time">
      <Legend model={timeline} />
      <div class="timeline-stage" ref={stage}>
        <Chart model={timeline} />
        <Notices model={timeline} />
      </div>
      <Tracks model={timeline} />
      <Minimap model={timeline} />
    </section>
  );
}

/** Why there is nothing to see here, in one sentence. */
function NoSegments() {
  return (
    <p class="no-history" role="note">
      This recording does not say which segments the allocator of {device.value?.name} holds from
      the driver: snapshots of <code>torch.cuda.memory</code> do, traces of the profiler, XPlanes,
      recordings of a CPU and device memory profiles of JAX do not.
      {hasHistory.value && " Its events are listed in the Profile."}
    </p>
  );
}

function NoneNow() {
  return (
    <p class="no-history" role="note">
      At this moment the allocator holds no segment that the recording knows of.
    </p>
  );
}

/** How much of what is drawn passes the filter; what does not stands back. */
function Passing({ model }: { model: Model }) {
  const about = model.state.value?.about;
  const passing = about?.passing;
  if (about === undefined || passing === undefined) return null;
  const asked = about.basis === "requested" ? passing.requested : passing.used;
  return (
    <p class="quiet small segments-passing" role="status" data-testid="segments-passing">
      <strong>{count(passing.blocks)}</strong> of {counted(about.blocks, "block")}{" "}
      {passing.blocks === 1 ? "passes" : "pass"} the filter,{" "}
      <strong title={exactBytes(asked)} data-exact="passing" data-bytes={asked}>
        {bytes(asked)}
      </strong>{" "}
      of {bytes(about.allocated)}; the others stand back.
    </p>
  );
}

/** What the map does not show by itself. */
function Hidden({ model }: { model: Model }) {
  const about = model.state.value?.about;
  if (about === undefined) return null;
  const { hidden, pools } = about;
  const rest = pools.at(-1);
  const words = [
    hidden.segments > 0 &&
      `${counted(hidden.segments, "smaller segment")}, ${bytes(hidden.bytes)}, ${hidden.segments === 1 ? "is" : "are"} not drawn; all numbers count them.`,
    rest?.key === REST_KEY &&
      `${rest.label}, ${bytes(rest.reserved)}, stand together below the others; the CSV has each.`,
  ].filter(Boolean);
  if (words.length === 0) return null;
  return (
    <p class="quiet small segments-hidden" role="note" data-testid="segments-hidden">
      {words.join(" ")}
    </p>
  );
}

/** Keys of the view, wherever the focus is: Space plays, up and down step through the events. */
function listen(model: Model): () => void {
  const stop = new AbortController();
  const options = { signal: stop.signal };
  let isArmed = false;
  const isBusy = (event: KeyboardEvent): boolean =>
    event.defaultPrevented ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    (event.target instanceof HTMLElement &&
      event.target.closest("input, select, textarea, button, summary, a, dialog") !== null);
  addEventListener(
    "keydown",
    (event) => {
      if (isBusy(event)) return;
      if (event.key === " ") {
        // On the way up: held down, it pans the chart.
        if (!event.repeat) isArmed = true;
        event.preventDefault();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        model.list.step(event.key === "ArrowDown" ? 1 : -1);
        event.preventDefault();
      }
    },
    options,
  );
  addEventListener("pointerdown", () => (isArmed = false), options);
  addEventListener(
    "keyup",
    (event) => {
      if (event.key !== " " || !isArmed) return;
      isArmed = false;
      model.player.toggle();
    },
    options,
  );
  return () => stop.abort();
}
