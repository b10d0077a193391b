/** The Trace view's own state beside the page's: one axis of time, and the panels that lie on it. */

import { computed, effect, signal } from "@preact/signals";
import { getTrace } from "../../api";
import { chooseAxis } from "../../flow/choose";
import { target } from "../../flow/questions";
import { createModel as createPicture } from "../../lives/model";
import { axis, hasTime, range } from "../../state";
import { convertRange } from "../../state/axis";
import { resource } from "../../state/resource";
import { ABOVE, BELOW, createModel as createTimeline } from "../../timeline/model";
import { createPanel, FAR } from "./lanes/model";

export type Model = ReturnType<typeof createModel>;

export function createModel() {
  const asked = resource(() => target.value, getTrace);
  const trace = computed(() => {
    const { data } = asked.answer.value;
    return data !== null && data.device === target.value?.device ? data : null;
  });
  const beside = computed(() => {
    const { begin = null, end = null } = trace.value ?? {};
    return begin === null || end === null ? null : { begin, end };
  });
  const timeline = createTimeline(undefined, false, beside);
  const host = createPanel(timeline, trace, "host");
  const device = createPanel(timeline, trace, "device");
  const picture = withHeight(timeline);
  const lives = createPicture(picture.timeline);
  const stops = [
    effect(() => {
      if (axis.value === "time" || !hasTime.value) return;
      // The window is mapped by the curve over events, which has to be there first.
      if (range.value === null || timeline.loader.detail.value !== null) {
        chooseAxis("time", convertRange("time"));
      }
    }),
    effect(() => {
      const at = lives.pointer.value;
      timeline.pointer.value = at === null ? null : { x: at.x, y: FAR };
    }),
  ];
  return {
    trace,
    failure: computed(() => asked.answer.value.error),
    timeline,
    host,
    device,
    lives,
    pictureHeight: picture.height,
    dispose: () => {
      for (const stop of stops) stop();
      lives.dispose();
      host.dispose();
      device.dispose();
      timeline.dispose();
      asked.dispose();
    },
  };
}

/** The same axis over a plot of another height. */
function withHeight(timeline: ReturnType<typeof createTimeline>) {
  const height = signal(0);
  const plot = computed(() => ({
    ...timeline.plot.value,
    height: Math.max(0, height.value - ABOVE - BELOW),
  }));
  return { height, timeline: { ...timeline, height, plot } };
}
