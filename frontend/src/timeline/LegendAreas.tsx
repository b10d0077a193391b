/** Stack, heap and free in the legend, where the allocator itself tells them apart. */

import { Segmented } from "../components/Segmented";
import { areas, device } from "../state";
import { groupColours } from "./groupColours";
import type { Model } from "./model";

/** What the picture is divided into, where the allocator tells stack, heap and free apart. */
export function AreasChoice() {
  const told = device.value?.areas ?? [];
  if (told.length === 0) return null;
  return (
    <div class="timeline-areas">
      <span class="quiet">areas</span>
      <Segmented
        label="Areas"
        value={areas.value}
        choose={(next) => (areas.value = next)}
        options={[
          { key: "groups", label: "groups", reason: null, title: "What was allocated, by group" },
          {
            key: "allocator",
            label: told.join(", "),
            reason: null,
            title: "As the allocator itself reports it after every event",
          },
        ]}
      />
    </div>
  );
}

/** Areas with their colours; what is free can be left out, so that the rest is seen. */
export function AreasDrawn({ model }: { model: Model }) {
  const usage = model.loader.detail.value ?? model.loader.whole.value;
  const given = usage === null ? [] : groupColours({ usage });
  const isFree = model.showFree.value;
  return (
    <ul class="timeline-groups" aria-label="Areas drawn">
      {usage?.window.groups.map(({ key, label }, index) => (
        <li key={key}>
          {key === "free" ? (
            <button
              type="button"
              aria-pressed={isFree}
              class={isFree ? "" : "is-faint"}
              title={isFree ? "Leave out what is free" : "Draw what is free on top"}
              onClick={() => (model.chosenFree.value = !isFree)}
            >
              <i class="timeline-swatch" style={{ background: given[index] ?? "" }} />
              {label}
            </button>
          ) : (
            <span class="timeline-area">
              <i class="timeline-swatch" style={{ background: given[index] ?? "" }} />
              {label}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
