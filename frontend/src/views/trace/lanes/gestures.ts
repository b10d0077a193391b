/** Turns what is done with pointer, wheel and keys on tracks into changes of window and selection. */

import { batch } from "@preact/signals";
import { selection } from "../../../state";
import { area, selects } from "../../../state/trace";
import { restingFocus, turnAcross } from "../../../timeline/across";
import { EDGE, handle, type Press } from "../../../timeline/handling";
import { ABOVE, type Point } from "../../../timeline/model";
import {
  brushedWindow,
  panWindow,
  type Range,
  roundWindow,
  span,
  toValue,
} from "../../../timeline/scale";
import { pressKey } from "./keys";
import { between } from "./layout";
import type { Panel } from "./model";
import { zoomTo } from "./walking";

interface Pressed extends Press {
  /** Pixels scrolled away when it began. */
  readonly scrolled: number;
}

/** Listens to the glass over the tracks until the returned function is called. */
export function listen(glass: HTMLElement, scroller: HTMLElement, panel: Panel): () => void {
  const { timeline } = panel;
  /** Points of `handle` are those of a plot with air above it. */
  const inPanel = ({ x, y }: Point): Point => ({ x, y: y + ABOVE });
  const placeAt = ({ x }: Point): number => {
    const { width } = timeline.plot.peek();
    return toValue(timeline.window.peek(), width, Math.min(Math.max(x, 0), width));
  };
  return handle<Pressed, Range>(glass, {
    pointer: panel.pointer,
    brush: timeline.brush,
    isReady: () => panel.items.peek() !== null,
    begin: (from, pans, event) => ({
      from,
      window: timeline.window.peek(),
      scrolled: scroller.scrollTop,
      does: pans ? "pan" : event.altKey || selects.peek() ? "measure" : "brush",
      moved: false,
    }),
    follow: (at, press) => {
      const isOver = at.x >= -EDGE && at.x <= timeline.plot.peek().width + EDGE;
      return isOver && press?.moved !== true ? inPanel(at) : null;
    },
    travelled: (from, at) => Math.hypot(at.x - from.x, at.y - from.y),
    drag: (press, at) => {
      const whole = timeline.whole.peek();
      if (press.does === "pan") {
        const across = ((press.from.x - at.x) / timeline.plot.peek().width) * span(press.window);
        timeline.setWindow(panWindow(press.window, whole, across), false);
        scroller.scrollTop = press.scrolled + press.from.y - at.y;
      } else if (press.does === "measure") {
        const heights = [inPanel(press.from).y, inPanel(at).y] as const;
        select(panel, [placeAt(press.from), placeAt(at)], heights);
      } else if (Math.abs(at.x - press.from.x) >= EDGE) {
        timeline.brush.value = brushedWindow(placeAt(press.from), placeAt(at), whole);
      }
    },
    zoomTo: (brushed) => timeline.setWindow(brushed),
    click: ({ does }, at) => {
      if (does === "measure") area.value = null;
      else pick(panel, inPanel(at));
    },
    fit: () => {
      const chosen = panel.itemAt(panel.pointer.peek() ?? { x: -1, y: -1 });
      if (chosen === null) timeline.fit();
      else zoomTo(panel, chosen);
    },
    anchorAt: placeAt,
    turn: (event, at, anchor) => {
      if (at.x < -EDGE) return false;
      if (!event.shiftKey) return turnAcross(event, timeline, anchor);
      // With Shift some browsers turn the wheel sideways.
      scroller.scrollTop += event.deltaY || event.deltaX;
      return true;
    },
    key: (key) => pressKey(key, panel, () => focusOf(panel)),
  });
}

/** The window between two times, of the tracks between two heights. */
function select(
  panel: Panel,
  times: readonly [number, number],
  heights: readonly [number, number],
): void {
  const { staying, edge, rest } = panel.inSight.peek();
  const [low, high] = [Math.min(...heights), Math.max(...heights) + 1];
  const tracks = [...between(staying, low, high), ...between(rest, Math.max(low, edge), high)];
  const window = roundWindow({ begin: Math.min(...times), end: Math.max(...times) });
  if (tracks.length === 0 || window.end <= window.begin) return;
  area.value = { ...window, tracks: tracks.map(({ track }) => track.id) };
}

/** A click: explains a span, comes closer to several, moves the cursor where there is none. */
function pick(panel: Panel, at: Point): void {
  const found = panel.itemAt(at);
  const { timeline } = panel;
  if (found === null) {
    const pointed = timeline.pointed.peek();
    if (pointed !== null) timeline.setCursor(pointed.sheet.usage.event[pointed.row] as number);
    return;
  }
  batch(() => {
    selection.value = { kind: "span", id: String(found.of.span[found.at]) };
    if ((found.of.count[found.at] as number) > 1) zoomTo(panel, found);
  });
}

/** What keys zoom about: the place under the pointer, else the cursor in view, else the middle. */
function focusOf({ pointer, timeline }: Panel): number {
  const at = pointer.peek();
  if (at === null) return restingFocus(timeline);
  return toValue(timeline.window.peek(), timeline.plot.peek().width, at.x);
}
