/** For every pool and stream what it held over time, and what of that was allocated. */

import { useRef } from "preact/hooks";
import { bytes, counted } from "../../../format";
import { hasHistory } from "../../../state";
import { colours, ink } from "../../../theme/theme";
import { usePaint } from "../../../timeline/usePaint";
import type { Model } from "../model";
import { paintPool } from "./paint";

const HEIGHT = 48;

export function Pools({ model }: { model: Model }) {
  const { data, error } = model.pools.value;
  if (!hasHistory.value) return null;
  return (
    <section class="segments-pools" aria-label="Pools and streams">
      <h2>
        Reserved and allocated, by pool and stream{" "}
        <span class="quiet small">each to its own scale, reserved as a line</span>
      </h2>
      {error && (
        <p class="danger" role="alert">
          {error}
        </p>
      )}
      {data?.window.problems.map((problem) => (
        <p class="segments-problem" role="note" key={problem}>
          {problem}
        </p>
      ))}
      {data?.window.groups.map(({ key, label }, group) => (
        <Pool model={model} group={group} id={key} label={label} key={key} />
      ))}
    </section>
  );
}

interface PoolProperties {
  model: Model;
  group: number;
  id: string;
  label: string;
}

function Pool({ model, group, id, label }: PoolProperties) {
  const canvas = useRef<HTMLCanvasElement>(null);
  usePaint(canvas, () => {
    const { plot, window, width, cursorPlace } = model.timeline;
    const answer = model.pools.value.data;
    if (answer === null) return null;
    const { left, width: wide } = plot.value;
    const paints = ink.value;
    const scene = { answer, group, left, wide, window: window.value, at: cursorPlace.value };
    const colour = colours.value.of({ key: id });
    return {
      width: width.value,
      height: HEIGHT,
      paint: (surface) => paintPool(surface, scene, paints, colour),
    };
  });
  const now = model.state.value?.about.pools.find(({ key }) => key === id);
  const words = now
    ? `${bytes(now.reserved)} reserved in ${counted(now.segments, "segment")}, ${bytes(now.used)} in ${counted(now.blocks, "block")}, largest free ${bytes(now.largest_free)}`
    : "nothing reserved";
  return (
    <figure class="segments-pool" data-pool={id}>
      <figcaption>
        <i class="timeline-swatch" style={{ background: colours.value.of({ key: id }) }} /> {label}{" "}
        <span class="quiet">at the cursor: {words}</span>
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${label} over time`}
        style={{ height: `${HEIGHT}px` }}
      />
    </figure>
  );
}
