/** The segments at the cursor, to scale, with the blocks in them; scrolled, zoomed, hovered, clicked. */

import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { SegmentState } from "../../../api";
import { card } from "../../../flow/questions";
import { bytes, counted } from "../../../format";
import { selection } from "../../../state";
import { dark, ink } from "../../../theme/theme";
import { usePaint } from "../../../timeline/usePaint";
import { MAP_HEIGHT, type Model } from "../model";
import { type Source, type Stretch, stretchesAt, thingIn } from "./blocks";
import { follow } from "./gestures";
import { fillOf, groupsOf } from "./groups";
import { scrollTo, stripsOf, topOf } from "./layout";
import { paintMap } from "./paint";
import { MapTooltip } from "./Tooltip";
import { fillsFor } from "./textures";

export function SegmentMap({ model }: { model: Model }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => (box.current === null ? undefined : follow(box.current, model, pick)), [model]);
  usePaint(canvas, () => pictureOf(model));
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null || current.scrollTop === model.scroll.value) return;
    current.scrollTop = model.scroll.value;
    // A box that has grown is scrolled less far than was asked for.
    model.scroll.value = current.scrollTop;
  }, [model.scroll.value, model.layout.value, model.height.value]);
  const words = useComputed(() => describe(model.state.value));
  const height = model.layout.value?.height ?? 0;
  return (
    <div class="segments-stage">
      <div
        class={`segments-map ${model.scroll.value > 0 ? "is-scrolled" : ""}`}
        ref={box}
        role="group"
        aria-label="Segments"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys zoom and step here
        tabIndex={0}
        style={{ height: `${Math.min(MAP_HEIGHT, Math.max(height + 12, 120))}px` }}
        data-testid="segments-map"
      >
        <div style={{ height: `${height}px` }}>
          <canvas ref={canvas} role="img" aria-label={words} data-testid="segments-canvas" />
        </div>
      </div>
      <MapTooltip model={model} />
    </div>
  );
}

/** Selects the block under the pointer; what is merged is zoomed into. */
function pick(model: Model): void {
  const pointed = model.pointed.peek();
  const thing = pointedThing(model);
  if (pointed === null || thing === null || thing.kind !== "block") return;
  const { state, row } = thing;
  const id = state.blocks.allocation[row] as number;
  if (id >= 0) selection.value = { kind: "allocation", id: String(id) };
  else model.zoomBy(1, pointed.y);
}

/** What is under the pointer, from the finest answer that shows it. */
export function pointedThing(model: Model) {
  const pointed = model.pointed.value;
  const whole = wholeOf(model);
  if (pointed === null || whole === null) return null;
  return { ...thingIn(whole, model.detail.value, pointed.place), segment: pointed.place.segment };
}

function wholeOf(model: Model): Source | null {
  const [state, starts] = [model.state.value, model.starts.value];
  return state === null || starts === null ? null : { state, starts };
}

function pictureOf(model: Model) {
  const [whole, layout] = [wholeOf(model), model.layout.value];
  if (whole === null || layout === null) return null;
  const [paints, fills] = [ink.value, fillsFor(dark.value)];
  const thing = pointedThing(model);
  let hovered: Stretch | null = null;
  if (thing?.kind === "free") hovered = { segment: thing.segment, from: thing.from, to: thing.to };
  else if (thing?.kind === "block") {
    const from = thing.state.blocks.offset[thing.row] as number;
    hovered = {
      segment: thing.segment,
      from,
      to: from + (thing.state.blocks.size[thing.row] as number),
    };
  }
  const scene = {
    whole,
    detail: model.detail.value,
    layout,
    scroll: model.scroll.value,
    height: model.height.value,
    selected: selected(model),
    changed: changed(model),
    hovered,
    fill: fillOf(groupsOf(whole.state), paints),
  };
  return {
    width: model.width.value,
    height: model.height.value,
    paint: (surface: Parameters<typeof paintMap>[0]) => paintMap(surface, scene, paints, fills),
  };
}

/** The selected allocation, while it is alive. */
export function selected(model: Model): Stretch[] {
  const state = model.state.value;
  const of = card.value.data;
  if (state === null || of === null || selection.value?.kind !== "allocation") return [];
  if (of.device !== state.about.device || of.address === null) return [];
  const { event } = state.about;
  const isAlive = (of.birth ?? -1) <= event && (of.death === null || event < of.death);
  return isAlive ? stretchesAt(state, of.address, of.size ?? of.requested ?? 1) : [];
}

/** The bytes that the event at the cursor was about. */
export function changed(model: Model): Stretch[] {
  const state = model.state.value;
  const event = model.list.current.value;
  if (state === null || event === null || event.address === null) return [];
  return event.event === state.about.event
    ? stretchesAt(state, event.address, event.size ?? 1)
    : [];
}

/** Scrolls to what the event at the cursor was about, or to what is selected. */
export function reveal(model: Model, stretches: readonly Stretch[]): void {
  const [first] = stretches;
  const [layout, state] = [model.layout.peek(), model.state.peek()];
  if (first === undefined || layout === null || state === null) return;
  const top = topOf(layout, { segment: first.segment, offset: first.from });
  const [strip] = stripsOf(layout, state.segments, first.segment, top, top);
  const [from, seen] = [model.scroll.peek(), model.height.peek()];
  model.scroll.value = scrollTo(layout, strip?.y ?? top, from, seen);
}

/** A state in a sentence, for who cannot see it. */
export function describe(state: SegmentState | null): string {
  if (state === null) return "Segments";
  const { about } = state;
  const held = about.reserved ?? about.mapped;
  return `${counted(about.count, "segment")}, ${bytes(held)} reserved, ${bytes(about.allocated)} allocated in ${counted(about.blocks, "block")}, ${bytes(about.free)} free, the largest free range ${bytes(about.largest_free)}`;
}
