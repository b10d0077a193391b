/** Turns what is done with pointer, wheel and keys on the picture into changes of the state. */

import { batch } from "@preact/signals";
import { allocationAt, binAt, pointAt, type Spot, tell } from "../picture/pointing";
import { bytesRange, only, selection } from "../state";
import { EDGE, handle, type Press } from "../timeline/handling";
import type { Point } from "../timeline/model";
import { panWindow, type Range, span } from "../timeline/scale";
import { areaBetween } from "./brushing";
import { pressKey } from "./keys";
import type { Area, Model } from "./model";
import { spotAt } from "./spots";
import { anchorAt, turnWheel } from "./wheel";

/** Bins to either side of a merged cell that a click on it shows. */
const AROUND = 4;

interface Pressed extends Press {
  readonly spot: Spot;
  readonly bytes: Range;
}

/** Listens to the picture until the returned function is called. */
export function listen(element: HTMLElement, model: Model): () => void {
  const { timeline } = model;
  return handle<Pressed, Area>(element, {
    pointer: model.pointer,
    brush: model.brush,
    isReady: () => model.pictures.front.peek() !== null,
    begin: (from, pans, event) => {
      const measures = model.measures.peek() || event.altKey;
      return {
        from,
        spot: spotAt(model, from),
        window: timeline.window.peek(),
        bytes: model.bytes.peek(),
        does: pans ? "pan" : measures ? "measure" : "brush",
        moved: false,
      };
    },
    follow: (at, press) => {
      const { width, height } = timeline.plot.peek();
      const isOver = at.x >= -EDGE && at.x <= width + EDGE && at.y >= -EDGE && at.y <= height;
      return isOver && press?.moved !== true ? at : null;
    },
    travelled: (from, at) => Math.hypot(at.x - from.x, at.y - from.y),
    drag: (press, at) => drag(model, press, at),
    zoomTo: model.setArea,
    click: (press, at) => {
      if (press.does === "measure") model.ruler.value = null;
      else pick(model, at);
    },
    fit: model.fit,
    anchorAt: (at) => anchorAt(model, at),
    turn: (event, at, anchor) => turnWheel(event, model, at, anchor),
    key: (key) => pressKey(key, model),
  });
}

function drag(model: Model, press: Pressed, at: Point): void {
  const { timeline } = model;
  const { width, height } = timeline.plot.peek();
  if (press.does === "pan") {
    const across = ((press.from.x - at.x) / width) * span(press.window);
    const up = ((at.y - press.from.y) / height) * span(press.bytes);
    batch(() => {
      timeline.setWindow(panWindow(press.window, timeline.whole.peek(), across), false);
      if (bytesRange.peek() !== null) model.setBytes(panWindow(press.bytes, model.tall.peek(), up));
    });
    return;
  }
  const spots = { from: press.spot, to: spotAt(model, at) };
  if (press.does === "measure") model.ruler.value = spots;
  else {
    const { whole } = timeline;
    model.brush.value = areaBetween(press.from, at, spots, whole.peek(), model.tall.peek());
  }
}

/** A click: explains an allocation, comes closer to what is too small, moves the cursor. */
function pick(model: Model, at: Point): void {
  const { plot, setCursor, setWindow, whole } = model.timeline;
  const { width, height } = plot.peek();
  if (at.x < -EDGE || at.x > width + EDGE || at.y < -EDGE) return;
  const picture = model.pictures.front.peek();
  const isOnAxis = at.y > height;
  const spot = spotAt(model, { x: Math.min(Math.max(at.x, 0), width - 0.5), y: at.y });
  const pointed =
    picture && pointAt(picture, isOnAxis ? { ...spot, bytes: picture.view.low } : spot);
  if (!pointed) return;
  const event = pointed.tile.columns.event[pointed.column] as number;
  if (isOnAxis) {
    setCursor(event);
    return;
  }
  const id = allocationAt(pointed);
  const { kind } = tell(pointed);
  if (id === null && kind === "several") {
    const bin = binAt(pointed);
    const air = span(bin) * AROUND;
    setWindow({ begin: bin.begin - air, end: Math.min(bin.end + air, whole.peek().end) });
  } else if (kind === "gap") {
    // So that the gap fills a third of the height.
    const { begin, end } = pointed.reach;
    model.setBytes({ begin: begin - (end - begin), end: end + (end - begin) });
  } else {
    batch(() => {
      selection.value = id === null ? null : { kind: "allocation", id };
      // What is alive at the cursor would be another picture: it then moves on the axis only.
      if (only.peek() !== "alive") setCursor(event);
    });
  }
}
