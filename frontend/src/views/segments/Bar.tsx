/** Above the map: what its textures mean, the scale, and the buttons that play the recording. */

import { useEffect, useRef } from "preact/hooks";
import { stateFile } from "../../api";
import { Segmented } from "../../components/Segmented";
import { target } from "../../flow/questions";
import { bytes } from "../../format";
import { blocksBy, by, cursor, hasHistory } from "../../state";
import { groupLabel } from "../../state/groups";
import { dark, ink } from "../../theme/theme";
import { prepare } from "../../timeline/paint/surface";
import { groupsOf } from "./map/groups";
import { type Fills, fillsFor, texturesFor } from "./map/textures";
import type { Model } from "./model";
import { SPEEDS } from "./play";

export function Bar({ model }: { model: Model }) {
  return (
    <div class="segments-bar">
      {hasHistory.value && <Player model={model} />}
      <div class="labelled">
        <span class="quiet">colour</span>
        <Segmented
          label="What colours say"
          value={blocksBy.value}
          choose={(next) => (blocksBy.value = next)}
          options={[
            { key: "kind", label: "kind", reason: null, title: "What bytes are to the allocator" },
            { key: "group", label: "group", reason: null, title: "The groups of all views" },
          ]}
        />
      </div>
      <Legend model={model} />
      <Zoom model={model} />
      {target.value && (
        <a
          class="button"
          href={stateFile(target.value, cursor.value ?? "peak")}
          download
          title="Every block and every free range at the cursor, as a file"
        >
          ⤓ CSV
        </a>
      )}
    </div>
  );
}

function Player({ model }: { model: Model }) {
  const { playing, speed, toggle } = model.player;
  const options = SPEEDS.map((value) => ({
    key: String(value),
    label: value === 0.25 ? "¼×" : `${value}×`,
    reason: null,
  }));
  return (
    <div class="segments-player">
      <button
        type="button"
        class="button"
        aria-pressed={playing.value}
        title="Move the cursor along the axis (Space)"
        onClick={toggle}
        data-testid="segments-play"
      >
        {playing.value ? "❚❚ Pause" : "▶ Play"}
      </button>
      <Segmented
        label="Speed"
        options={options}
        value={String(speed.value)}
        choose={(key) => (speed.value = Number(key))}
      />
    </div>
  );
}

const KINDS = [
  ["requested", "requested"],
  ["rounding", "rounding"],
  ["pending", "pending free"],
  ["free", "free"],
] as const;

function Legend({ model }: { model: Model }) {
  const basis = model.state.value?.about.basis;
  const isExpandable = model.state.value?.segments.expandable.includes(1) === true;
  const groups = groupsOf(model.state.value);
  const isLeftOut = (kind: string): boolean =>
    (basis === "size" && kind === "rounding") || (groups !== null && kind === "requested");
  return (
    <ul class="segments-legend" aria-label="What is drawn">
      {groups?.map(({ group, colour }) => (
        <li key={group.key} title={group.label}>
          <i class="segments-swatch" style={{ background: colour }} />
          <span class="clip">{groupLabel(group.label, by.value)}</span>
        </li>
      ))}
      {KINDS.map(([kind, label]) =>
        isLeftOut(kind) ? null : (
          <li key={kind}>
            <Swatch kind={kind} />
            {basis === "size" && kind === "requested" ? "allocated" : label}
          </li>
        ),
      )}
      <li>
        <i class="segments-dash is-largest" />
        largest free
      </li>
      {isExpandable && (
        <li>
          <i class="segments-dash is-expandable" />
          expandable
        </li>
      )}
      {hasHistory.value && (
        <li>
          <i class="segments-dash is-changed" />
          this event
        </li>
      )}
    </ul>
  );
}

function Swatch({ kind }: { kind: keyof Fills }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const isDark = dark.value;
  useEffect(() => {
    if (canvas.current === null) return;
    const surface = prepare(canvas.current, 18, 12);
    if (surface === null) return;
    const { background, quiet } = ink.peek();
    const { context } = surface;
    context.fillStyle = texturesFor(surface, fillsFor(isDark), background)[kind];
    context.fillRect(0, 0, 18, 12);
    context.strokeStyle = quiet;
    if (kind === "free") context.strokeRect(0.5, 0.5, 17, 11);
  }, [isDark, kind]);
  return (
    <i class="segments-swatch" aria-hidden="true">
      <canvas ref={canvas} />
    </i>
  );
}

function Zoom({ model }: { model: Model }) {
  const { zoom, deepest, lineBytes, zoomBy } = model;
  return (
    <div class="segments-zoom" role="group" aria-label="Scale">
      <span class="quiet small">a line is {bytes(lineBytes.value)}</span>
      <button
        type="button"
        class="button"
        aria-label="Zoom out"
        title="Zoom out (−)"
        disabled={zoom.value <= 0}
        onClick={() => zoomBy(-1)}
      >
        −
      </button>
      <button
        type="button"
        class="button"
        aria-label="Zoom in"
        title="Zoom in (+, or Ctrl and the wheel)"
        disabled={zoom.value >= deepest.value}
        onClick={() => zoomBy(1)}
      >
        +
      </button>
      <button
        type="button"
        class="button"
        disabled={zoom.value === 0}
        onClick={() => zoomBy(-zoom.value)}
      >
        fit
      </button>
    </div>
  );
}
