/** What is under the pointer, beside it. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AllocationCard } from "../api";
import { useFree } from "../picture/holes";
import { allocationAt, pointAt } from "../picture/pointing";
import { hover } from "../state";
import { pointAt as pointAtLife } from "../state/pointed";
import { cardOf } from "../timeline/cards";
import { coloursFor } from "../timeline/groupColours";
import { LEFT } from "../timeline/model";
import { Tip } from "../timeline/Tip";
import type { Model } from "./model";
import { wordsFor } from "./readout";
import { spotAt } from "./spots";

/** Pixels that the box needs below the pointer. */
const BELOW = 18;

export function Tooltip({ model }: { model: Model }) {
  const pointed = useComputed(() => {
    const [pointer, picture] = [model.pointer.value, model.pictures.front.value];
    const { plot, window } = model.timeline;
    // Read so that it is looked up anew when what is under the pointer has moved.
    window.value;
    model.bytes.value;
    if (pointer === null || picture === null || model.brush.value !== null) return null;
    if (pointer.y < 0 || pointer.y > plot.value.height) return null;
    return pointAt(picture, spotAt(model, pointer));
  });
  useSignalEffect(() => {
    const found = pointed.value;
    hover.value = found === null ? null : (found.tile.columns.event[found.column] as number);
  });
  const id = useComputed(() => (pointed.value === null ? null : allocationAt(pointed.value)));
  const card = useSignal<AllocationCard | null>(null);
  useSignalEffect(() => cardOf(id.value, (found) => (card.value = found)));
  const known = useComputed(() => {
    const told = card.value;
    return told !== null && String(told.id) === id.value ? told : null;
  });
  useSignalEffect(() => pointAtLife(known.value ?? undefined));
  useEffect(
    () => () => {
      hover.value = null;
      pointAtLife(undefined);
    },
    [],
  );
  const free = useFree(pointed, () => model.pictures.front.value?.view ?? null);

  const found = pointed.value;
  const pointer = model.pointer.value;
  if (found === null || pointer === null) return null;
  const words = wordsFor(found, known.value, free.value);
  const colour = words.band === null ? null : coloursFor(found.tile, found.tile.about)[words.band];
  const { height } = model.timeline.plot.value;
  return (
    <Tip
      x={LEFT + pointer.x}
      y={Math.max(4, Math.min(pointer.y + BELOW, height * 0.62))}
      within={model.timeline.width.value}
      testId="allocations-tooltip"
    >
      <div class="timeline-tooltip-title">
        {colour && <i class="timeline-swatch" style={{ background: colour }} />}
        {words.what}
      </div>
      {words.lines.map((line) => (
        <div class="quiet" key={line}>
          {line}
        </div>
      ))}
      <div class="quiet">{words.title}</div>
    </Tip>
  );
}
