/** The stacked timeline of segments: the picture of all mapped ranges over time, drawn by the kit. */

import { computed, signal } from "@preact/signals";
import type { Palette } from "../../../drawing/palette";
import type { Tile } from "../../../drawing/tile";
import { target } from "../../../flow/questions";
import { createPictures } from "../../../picture/pictures";
import { pointAt } from "../../../picture/pointing";
import type { Question } from "../../../picture/question";
import { device, hasHistory } from "../../../state";
import { ink } from "../../../theme/theme";
import { coloursFor, gapColour } from "../../../timeline/groupColours";
import { ABOVE, BELOW, type Point, type Model as Timeline } from "../../../timeline/model";
import { type Range, toValue } from "../../../timeline/scale";

export const HEIGHT = 180;
/** Air above the highest thing drawn. */
const HEADROOM = 1.06;

export type StackModel = ReturnType<typeof createStack>;

export function createStack(timeline: Timeline) {
  const pointer = signal<Point | null>(null);
  const plot = computed(() => ({
    ...timeline.plot.value,
    top: ABOVE,
    height: HEIGHT - ABOVE - BELOW,
  }));
  const bytes = computed<Range>(() => ({
    begin: 0,
    end: Math.max(2, (device.value?.reserved_peak ?? 0) * HEADROOM),
  }));
  const question = computed<Question | null>(() => {
    const of = target.value;
    if (of === null || !hasHistory.value || !(device.value?.reserved_peak ?? 0)) return null;
    return {
      ...of,
      of: "segments",
      layout: "stacked",
      axis: timeline.axis.value,
      by: "pool",
      pattern: "",
      only: "all",
      at: null,
      minimum: 0,
      filter: "",
      find: "",
    };
  });
  const { window, whole, ratio, reach } = timeline;
  const pictures = createPictures({
    question,
    whole,
    window,
    reach,
    bytes,
    plot,
    ratio,
    palette,
  });
  const pointed = computed(() => {
    const [at, picture] = [pointer.value, pictures.front.value];
    const { width, height } = plot.value;
    if (at === null || picture === null || at.y < 0 || at.y > height) return null;
    const spot = {
      at: toValue(window.value, width, Math.min(Math.max(at.x, 0), width - 0.5)),
      bytes: toValue(bytes.value, height, height - at.y),
    };
    return pointAt(picture, spot);
  });
  return { timeline, plot, bytes, question, pictures, pointer, pointed, dispose: pictures.dispose };
}

/** A colour a pool and stream. */
function palette(tiles: readonly Tile[]): Palette {
  const paints = ink.value;
  return {
    bands: tiles.map((tile) => coloursFor(tile, tile.about)),
    faint: tiles.map(() => []),
    background: paints.background,
    gap: gapColour(paints),
    held: paints.track,
    outline: paints.text,
    selected: null,
    siblings: [],
    searching: false,
  };
}
