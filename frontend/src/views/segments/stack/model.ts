/** The stacked timeline of segments: the picture of all mapped ranges over time, drawn by the kit. */

import { computed, signal } from "@preact/signals";
import { target } from "../../../flow/questions";
import { createPictures } from "../../../picture/pictures";
import { HEADROOM, plainPalette } from "../../../picture/plain";
import { pointAt } from "../../../picture/pointing";
import type { Question } from "../../../picture/question";
import { device, hasHistory } from "../../../state";
import { ABOVE, BELOW, type Point, type Model as Timeline } from "../../../timeline/model";
import { type Range, toValue } from "../../../timeline/scale";

export const HEIGHT = 180;

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
    palette: plainPalette,
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
