/** The other devices at the moment that the map is about: a row each, to one scale; a click goes there. */

import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Device, getSegments, type SegmentsQuery, type StateAbout } from "../../api";
import { Clip } from "../../components/Clip";
import { goToDevice } from "../../flow/choose";
import { target } from "../../flow/questions";
import { bytes, count } from "../../format";
import { device, summary } from "../../state";
import { resource } from "../../state/resource";
import { dark, ink } from "../../theme/theme";
import { usePaint } from "../../timeline/usePaint";
import { startsOf } from "./map/blocks";
import { fillOf, groupsOf } from "./map/groups";
import { layOut } from "./map/layout";
import { describe } from "./map/Map";
import { paintMap } from "./map/paint";
import { fillsFor } from "./map/textures";
import type { Model } from "./model";

/** Lines that the fullest of the others takes. */
const LINES = 3;

export function Others({ model }: { model: Model }) {
  const all = summary.value?.devices ?? [];
  const others = all.filter(({ key, segments }) => segments && key !== device.value?.key);
  const about = model.state.value?.about;
  if (others.length === 0 || about === undefined) return null;
  const most = Math.max(1, ...others.map((one) => one.reserved_peak ?? one.allocated_peak));
  const lineBytes = Math.ceil(most / LINES);
  return (
    <section class="segments-others" aria-label="Other devices">
      <h3>
        Other devices {whenWords(about)} · a line is {bytes(lineBytes)}
      </h3>
      {others.map((one) => (
        <Other key={`${one.key} ${most}`} model={model} of={one} lineBytes={lineBytes} />
      ))}
    </section>
  );
}

/** The moment of a state, as it is asked for of another device. */
function momentOf({ event, time }: StateAbout): number | "peak" | `time:${number}` {
  if (event < 0) return -1;
  return time === null ? "peak" : `time:${time}`;
}

function whenWords(about: StateAbout): string {
  const at = momentOf(about);
  if (at === -1) return "before their first event";
  return at === "peak"
    ? "at their own peaks: without time stamps no moment is common"
    : "at that moment";
}

function questionOf(model: Model, key: string, lineBytes: number): SegmentsQuery | null {
  const [about, width] = [model.state.value?.about, model.width.value];
  if (!target.value || about === undefined || width <= 0) return null;
  const at = momentOf(about);
  const marking = { ...model.marking.value };
  // How long ago something was born is meant at this moment, and not at an event of the other.
  if (marking.by === "age") marking.pattern = String(at);
  const pixel = 2 ** Math.max(0, Math.floor(Math.log2(lineBytes / width)));
  return { ...target.value, device: key, at, pixel, ...marking };
}

function Other({ model, of, lineBytes }: { model: Model; of: Device; lineBytes: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { answer, dispose } = useMemo(
    () => resource(() => questionOf(model, of.key, lineBytes), getSegments),
    [],
  );
  useEffect(() => dispose, [dispose]);
  const laid = useComputed(() => {
    const [state, width] = [answer.value.data, model.width.value];
    return state && layOut(state.segments, Math.max(width, 1), lineBytes);
  });
  usePaint(canvas, () => {
    const [state, layout] = [answer.value.data, laid.value];
    if (state === null || layout === null) return null;
    const fill = fillOf(groupsOf(state), ink.value);
    const whole = { state, starts: startsOf(state.blocks, state.segments.length) };
    const seen = { whole, layout, fill, detail: null, scroll: 0, height: layout.height };
    const scene = { ...seen, selected: [], changed: [], hovered: null };
    const [paints, fills] = [ink.value, fillsFor(dark.value)];
    return {
      width: layout.width,
      height: layout.height,
      paint: (surface) => paintMap(surface, scene, paints, fills),
    };
  });
  const state = answer.value.data;
  if (state === null) return <p class="danger">{answer.value.error}</p>;
  const { about } = state;
  return (
    <button
      type="button"
      class="segments-other"
      title={`Go to ${of.name} at event ${count(about.event)}`}
      onClick={() => goToDevice(of.key, about.event)}
      data-testid="segments-other"
    >
      <span class="segments-other-name">
        <strong>{of.name}</strong> <Clip>{numbersOf(about)}</Clip>
      </span>
      <canvas
        ref={canvas}
        role="img"
        aria-label={describe(state)}
        style={{ height: `${laid.value?.height ?? 0}px`, width: `${laid.value?.width ?? 0}px` }}
      />
    </button>
  );
}

function numbersOf({
  reserved,
  mapped,
  allocated,
  free,
  largest_free: largest,
}: StateAbout): string {
  const held = `${bytes(reserved ?? mapped)} reserved, ${bytes(allocated)} allocated`;
  return `${held}, ${bytes(free)} free, the largest ${bytes(largest)}`;
}
