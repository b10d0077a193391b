/** What the colours and lines mean; a group is picked, a line shown or hidden by its entry. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { bytes } from "../format";
import { by, device, selection } from "../state";
import { groupLabel } from "../state/groups";
import { fitting } from "./fitting";
import { groupColours, pickedGroup } from "./groupColours";
import { FRAGMENTATION } from "./height";
import type { Model } from "./model";

/** Lines of entries before "+N more". */
const LINES = 2;
/** Pixels the switches for lines take, beside the entries or, on a narrow page, under them. */
const SWITCHES = 270;
const NARROW = 640;

export function Legend({ model }: { model: Model }) {
  const { value: width } = model.width;
  const room = Math.max(width < NARROW ? width : width - SWITCHES, 200);
  const hasReserved = model.loader.detail.value?.window.has_reserved === true;
  return (
    <div class={`timeline-legend ${width < NARROW ? "is-narrow" : ""}`}>
      <Groups model={model} room={room} />
      <div class="timeline-lines">
        {hasReserved ? <Line kind="reserved" label="reserved" shown={model.showReserved} /> : null}
        {device.value?.capacity && model.loader.detail.value !== null ? (
          <Line kind="capacity" label={capacityWords(model)} shown={model.showCapacity} />
        ) : null}
        {hasReserved ? (
          <Line
            kind="fragmentation"
            label="fragmentation"
            title={`${FRAGMENTATION}, on the right axis`}
            shown={model.showFragmentation}
          />
        ) : null}
      </div>
    </div>
  );
}

/** The groups with their colours, as many as there is `room` for in pixels; a click picks one. */
export function Groups({ model, room }: { model: Model; room: number }) {
  const all = useSignal(false);
  const entries = useComputed(() => entriesOf(model)).value;
  const labels = entries.map(({ label }) => label);
  const few = fitting(labels, room, LINES);
  const shown = all.value ? entries : entries.slice(0, few);
  const hidden = entries.length - shown.length;
  return (
    <ul class={all.value ? "timeline-groups is-open" : "timeline-groups"} aria-label="Groups">
      {shown.map((entry) => (
        <li key={entry.key}>
          <button
            type="button"
            aria-pressed={pickedGroup.value === entry.key}
            class={pickedGroup.value !== null && pickedGroup.value !== entry.key ? "is-faint" : ""}
            title={entry.label}
            onClick={() => pick(entry.key)}
          >
            <i class="timeline-swatch" style={{ background: entry.colour }} />
            <span class="clip">{entry.label}</span>
          </button>
        </li>
      ))}
      {entries.length > few ? (
        <li>
          <button type="button" class="timeline-more" onClick={() => (all.value = !all.value)}>
            {all.value ? "fewer" : `+${hidden} more`}
          </button>
        </li>
      ) : null}
    </ul>
  );
}

interface LineProps {
  kind: string;
  label: string;
  title?: string;
  shown: Signal<boolean>;
}

function Line({ kind, label, title, shown }: LineProps) {
  return (
    <button
      type="button"
      aria-pressed={shown.value}
      class={shown.value ? "" : "is-faint"}
      title={title ?? `Show or hide ${label}`}
      onClick={() => (shown.value = !shown.value)}
    >
      <i class={`timeline-dash is-${kind}`} />
      {label}
    </button>
  );
}

/** Where capacity is, in words while it is too far from the picture to be drawn to scale. */
function capacityWords(model: Model): string {
  const scene = model.scene.value;
  if (scene === null || scene.capacity === null || scene.height.showsCapacity) return "capacity";
  const where = scene.capacity > scene.height.top ? "above" : "below";
  return `capacity ${bytes(scene.capacity)}, far ${where}`;
}

/** Groups in stacking order with their colours. */
function entriesOf(model: Model) {
  const usage = model.loader.detail.value ?? model.loader.whole.value;
  if (usage === null) return [];
  const given = groupColours({ usage });
  return usage.window.groups.map(({ key, label }, index) => ({
    key,
    label: groupLabel(label, usage.window.by),
    colour: given[index] ?? "",
  }));
}

function pick(key: string): void {
  const isPicked = pickedGroup.value === key;
  selection.value = isPicked ? null : { kind: "group", by: by.value, key };
}
