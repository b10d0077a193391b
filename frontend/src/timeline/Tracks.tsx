/** Steps, modules and annotations under the chart, on its axis, and what is said of one of them. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { getSpan, type SpanCard } from "../api";
import { grouped } from "../format";
import { itemLines, itemWords, peakWords } from "./itemWords";
import { LEFT, type Model } from "./model";
import { lookUp } from "./resting";
import { toPixel } from "./scale";
import { sameItem } from "./stepping";
import { Tip } from "./Tip";
import { type Pointed, Track } from "./Track";

const spanOf = lookUp((of, id, abort) => getSpan({ ...of, id }, abort));

export function Tracks({ model }: { model: Model }) {
  const tracks = model.loader.tracks.value;
  const pointed = useSignal<Pointed | null>(null);
  const card = useSignal<SpanCard | null>(null);
  useSignalEffect(() => {
    const item = pointed.value?.item;
    return spanOf(item?.count === 1 ? item.id : null, (found) => (card.value = found));
  });
  const spoken = useComputed(() => {
    const shown = pointed.value;
    // The pointer speaks for itself.
    if (shown === null || shown.x !== null) return "";
    return itemWords(shown.item, model.axis.value, card.value);
  });
  if (tracks === null) return null;
  return (
    <div class="timeline-tracks">
      <p class="unseen" id="timeline-track-keys">
        Left and right arrows go to the previous and the next, up and down to what is around it and
        in it, Enter zooms to it and explains it, Escape goes back.
      </p>
      <p class="unseen" aria-live="polite" data-testid="timeline-item-spoken">
        {spoken}
      </p>
      <Track model={model} name="steps" pointed={pointed} />
      <Track model={model} name="modules" pointed={pointed} />
      <Track model={model} name="annotations" pointed={pointed} />
      {pointed.value === null ? null : (
        <ItemTooltip model={model} pointed={pointed.value} card={card.value} />
      )}
      {tracks.hidden > 0 ? (
        <p class="quiet small timeline-hidden">
          {grouped(tracks.hidden)} more are too short or too deep to show here: zoom in.
        </p>
      ) : null}
    </div>
  );
}

interface TooltipProps {
  model: Model;
  pointed: Pointed;
  card: SpanCard | null;
}

function ItemTooltip({ model, pointed, card }: TooltipProps) {
  const { track, item, x, y } = pointed;
  return (
    <Tip
      x={x ?? middleOf(model, pointed)}
      y={y}
      within={model.width.value}
      testId="timeline-item-tooltip"
    >
      <div class="timeline-tooltip-title">
        {item.name}
        <span class="unseen">, {track}</span>
        {item.on && item.count === 1 ? <span class="quiet"> on {item.on}</span> : null}
      </div>
      {[...itemLines(item, model.axis.value), ...peakWords(card)].map((text) => (
        <div class="quiet" key={text}>
          {text}
        </div>
      ))}
    </Tip>
  );
}

/** The middle of what is in view of an item, in pixels of the tracks. */
function middleOf(model: Model, { track, item }: Pointed): number {
  const [window, { width }] = [model.window.value, model.plot.value];
  const now = sameItem(model.loader.tracks.value?.[track] ?? [], item) ?? item;
  const edges = [now.begin, now.end].map((value) =>
    Math.min(Math.max(toPixel(window, width, value), 0), width),
  ) as [number, number];
  return LEFT + (edges[0] + edges[1]) / 2;
}
