/** What the wheel does on the picture. */

import { pointAt } from "../picture/pointing";
import { turnAcross } from "../timeline/across";
import type { Point } from "../timeline/model";
import { span, zoomWindow } from "../timeline/scale";
import { wheelFactor } from "../timeline/wheel";
import type { Model } from "./model";
import { spotAt } from "./spots";

/** Pixels within which the wheel takes the instant that is drawn for the one that is meant. */
const STEADY = 2;
/** Pixels left of the plot from which on it is over the axis of bytes. */
const EDGE = 4;

/** The instant drawn at a pixel if that is as near as the hand is steady, else the place there. */
export function anchorAt(model: Model, at: Point): number {
  const { axis, plot, window } = model.timeline;
  const spot = spotAt(model, at);
  const picture = model.pictures.front.peek();
  const pointed = picture && pointAt(picture, { ...spot, bytes: picture.view.low });
  if (!pointed) return spot.at;
  const { columns } = pointed.tile;
  const instant = axis.peek() === "time" ? columns.time : columns.event;
  const place = Math.max(
    instant[pointed.column] as number,
    columns.begin[pointed.column] as number,
  );
  const pixel = span(window.peek()) / plot.peek().width;
  return Math.abs(place - spot.at) <= STEADY * pixel ? place : spot.at;
}

/** Zooms about the pointer, or pans for a sideways turn. False where there was nothing to do. */
export function turnWheel(event: WheelEvent, model: Model, at: Point, anchor: number): boolean {
  const isUp = event.ctrlKey || event.shiftKey || event.metaKey || at.x < -EDGE;
  if (!isUp) return turnAcross(event, model.timeline, anchor);
  // With Shift some browsers turn the wheel sideways.
  const turned = event.deltaY === 0 ? event.deltaX : event.deltaY;
  const [bytes, tall] = [model.bytes.peek(), model.tall.peek()];
  if (turned > 0 && span(bytes) >= span(tall)) return true;
  const { bytes: height } = spotAt(model, at);
  model.setBytes(zoomWindow(bytes, tall, height, wheelFactor(event, turned)));
  return true;
}
