/** What the colours and lines mean; a group is picked, a line shown or hidden by its entry. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { Clip } from "../components/Clip";
import { bytes } from "../format";
import { by, device, selection } from "../state";
import { groupLabel } from "../state/groups";
import { fitting } from "./fitting";
import { formulaOf } from "./fragmentation";
import { groupColours, pickedGroup } from "./groupColours";
import { FREE_LIST } from "./height";
import { AreasChoice, AreasDrawn } from "./LegendAreas";
import type { Model } from "./model";

/** Lines of entries before "+N more". */
const LINES = 2;
/** Pixels of a switch for a line beside its words, and of one of their letters. */
const SWITCH = 32;
const LETTER = 5.4;
/** And of the choice of areas, where there is one. */
const AREAS = 230;
/** Pixels beside all that from which on entries stand there: two of the widest. */
const BESIDE = 540;

export function Legend({ model }: { model: Model }) {
  const { value: width } = model.width;
  const beside = (device.value?.areas.length ?? 0) > 0 && model.followsAreas ? AREAS : 0;
  const usage = model.loader.detail.value;
  const byArea = model.byArea.value;
  const hasReserved = usage?.window.has_reserved === true && !byArea;
  const formula = usage === null ? null : formulaOf(usage);
  const hasCapacity = Boolean(device.value?.capacity) && usage !== null;
  const other = model.otherLine.value?.isSeen ? model.otherLine.value : null;
  const switches = [
    other?.label ?? "",
    hasReserved ? "reserved" : "",
    hasCapacity ? capacityWords(model) : "",
    formula === null ? "" : "fragmentation",
  ].filter((words) => words !== "");
  const taken = switches.reduce((sum, words) => sum + SWITCH + LETTER * words.length, beside);
  // Where little is left beside the switches, entries have lines of their own under them.
  const isNarrow = width - taken < BESIDE;
  const room = Math.max(isNarrow ? width : width - taken, 200);
  return (
    <div class={`timeline-legend ${isNarrow ? "is-narrow" : ""}`}>
      {model.followsAreas ? <AreasChoice /> : null}
      {byArea ? <AreasDrawn model={model} /> : <Groups model={model} room={room} />}
      <div class="timeline-lines">
        {other !== null ? (
          <Line kind="other" label={other.label} title={other.title} shown={model.showOther} />
        ) : null}
        {hasReserved ? <Line kind="reserved" label="reserved" shown={model.showReserved} /> : null}
        {hasCapacity ? (
          <Line kind="capacity" label={capacityWords(model)} shown={model.showCapacity} />
        ) : null}
        {formula !== null ? (
          <Line
            kind={formula === FREE_LIST ? "free-list" : "fragmentation"}
            label="fragmentation"
            title={`${formula}, on the right axis`}
            shown={byArea ? model.showFreeList : model.showFragmentation}
          />
        ) : null}
      </div>
    </div>
  );
}

/** The groups with their colours, as many as there is `room` for in pixels; a click picks one. */
export function Groups({ model, room }: { model: Model; room: number }) {
  const entries = useComputed(() => entriesOf(model)).value;
  return <Entries entries={entries} room={room} />;
}

export interface Entry {
  readonly key: string;
  readonly label: string;
  readonly colour: string;
}

export function Entries({ entries, room }: { entries: readonly Entry[]; room: number }) {
  const all = useSignal(false);
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
            <Clip>{entry.label}</Clip>
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
function entriesOf(model: Model): readonly Entry[] {
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
