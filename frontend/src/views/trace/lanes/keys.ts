/** What keys do on tracks: along the axis as on the chart, and from span to span. */

import { spanCard } from "../../../flow/questions";
import { selection } from "../../../state";
import { keyAcross } from "../../../timeline/across";
import { panWindow, span } from "../../../timeline/scale";
import type { InSight } from "./layout";
import type { Panel } from "./model";
import { airy, entry, stepped, type Way } from "./walking";

/** Share of the window that it moves by where nothing more is known beside it. */
const BEYOND = 0.9;

const WAYS: Readonly<Record<string, Way>> = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  ArrowUp: "around",
  ArrowDown: "inside",
};

/** Does what a key stands for; false where it stands for nothing. */
export function pressKey(key: string, panel: Panel, focus: () => number): boolean {
  if (key === "Enter") return zoomToChosen(panel);
  const way = WAYS[key];
  if (way === undefined) return keyAcross(key, panel.timeline, focus);
  return walk(panel, way);
}

/** The selected span, if it is on one of the panel's tracks. */
function chosenIn(panel: Panel) {
  const [chosen, known] = [selection.peek(), spanCard.peek().data];
  if (chosen?.kind !== "span" || known === null || known.id !== chosen.id) return null;
  return panel.placed.peek().some(({ track }) => track.id === known.place.track)
    ? known.place
    : null;
}

function zoomToChosen(panel: Panel): boolean {
  const place = chosenIn(panel);
  if (place !== null) panel.timeline.setWindow(airy(place));
  return place !== null;
}

const firstIn = ({ staying, rest }: InSight) => (staying[0] ?? rest[0])?.track.id;

function walk(panel: Panel, way: Way): boolean {
  const of = panel.items.peek();
  if (of === null) return false;
  const { timeline } = panel;
  const window = timeline.window.peek();
  const place = chosenIn(panel);
  const next =
    place === null ? entry(of, firstIn(panel.inSight.peek()), window) : stepped(of, place, way);
  if (next !== null) selection.value = { kind: "span", id: String(next.of.span[next.at]) };
  else if (way === "next" || way === "previous") {
    // More may come to be known beside what is in view.
    const by = (way === "next" ? BEYOND : -BEYOND) * span(window);
    timeline.setWindow(panWindow(window, timeline.whole.peek(), by), false);
  }
  return true;
}
