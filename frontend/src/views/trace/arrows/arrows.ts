/** Which arrows there are: of the selected span what it is linked to, of an allocation who made and freed it. */

import { computed, type ReadonlySignal } from "@preact/signals";
import type { AllocationCard, SpanCard, TraceSpan } from "../../../api";
import { card, spanCard } from "../../../flow/questions";
import { selection } from "../../../state";
import { ABOVE } from "../../../timeline/model";
import type { Model } from "../model";
import { type Boxes, type End, heightOfSpan, shareOfAllocation } from "./geometry";

export interface Arrow {
  readonly key: string;
  /** What it is: a link's kind, `made` or `freed`. */
  readonly kind: string;
  readonly from: End;
  readonly to: End;
}

type HeightOf = (span: TraceSpan) => number | null;

export function createArrows(model: Model, boxes: ReadonlySignal<Boxes>) {
  return computed<readonly Arrow[]>(() => {
    const chosen = selection.value;
    const panels = [model.host, model.device];
    const heightOf: HeightOf = (span) => heightOfSpan(span, panels, boxes.value);
    if (chosen?.kind === "span") {
      const known = spanCard.value.data;
      return known?.id === chosen.id ? linksOf(known, heightOf) : [];
    }
    if (chosen?.kind !== "allocation") return [];
    const known = card.value.data;
    if (known === null || String(known.id) !== chosen.id) return [];
    return usesOf(known, heightOf, (at) => heightOfAllocation(model, boxes.value, chosen.id, at));
  });
}

function linksOf({ place, links }: SpanCard, heightOf: HeightOf): Arrow[] {
  return links.flatMap(({ kind, way, span }) => {
    const [source, target] = way === "from" ? [span, place] : [place, span];
    const [from, to] = [heightOf(source), heightOf(target)];
    if (from === null || to === null) return [];
    // What is handed over begins after it was asked for, and often before the asking ends.
    const at = source.end <= target.begin ? source.end : source.begin;
    return [
      {
        key: `${kind} ${source.id} ${target.id}`,
        kind,
        from: { at, y: from },
        to: { at: target.begin, y: to },
      },
    ];
  });
}

function usesOf(
  known: AllocationCard,
  heightOf: HeightOf,
  allocationAt: (at: number) => number | null,
): Arrow[] {
  const arrows: Arrow[] = [];
  const { made_in: made, freed_in: freed, birth_time: birth, death_time: death } = known;
  const born = made === null ? null : heightOf(made);
  const begun = birth === null ? null : allocationAt(birth);
  if (made !== null && born !== null && birth !== null && begun !== null) {
    const from = { at: Math.min(Math.max(birth, made.begin), made.end), y: born };
    arrows.push({ key: `made ${made.id}`, kind: "made", from, to: { at: birth, y: begun } });
  }
  const ended = freed === null ? null : heightOf(freed);
  const gone = death === null ? null : allocationAt(death);
  if (freed !== null && ended !== null && death !== null && gone !== null) {
    const to = { at: Math.min(Math.max(death, freed.begin), freed.end), y: ended };
    arrows.push({ key: `freed ${freed.id}`, kind: "freed", from: { at: death, y: gone }, to });
  }
  return arrows;
}

/** Where an allocation is in its panel; the middle of that where the picture does not show it. */
function heightOfAllocation({ lives }: Model, boxes: Boxes, id: string, at: number): number | null {
  const box = boxes.allocations;
  if (box === undefined) return null;
  const picture = lives.pictures.front.value;
  const { height } = lives.timeline.plot.value;
  const share = picture === null ? null : shareOfAllocation(picture, id, at);
  if (height <= 0) return box.top + box.height / 2;
  return box.top + ABOVE + (share ?? 0.5) * height;
}
