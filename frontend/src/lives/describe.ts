/** The picture in a sentence, for those who cannot see it: of where it rests, not of every frame of a pan. */

import { bytes, count, counted, exactBytes } from "../format";
import { highestOf } from "../picture/highest";
import { exactTime, instantTitle } from "../timeline/readout";
import { known } from "../timeline/rows";
import { roundWindow } from "../timeline/scale";
import type { Model } from "./model";

const LAYOUT = {
  stacked: "stacked by birth",
  address: "by address",
  lane: "in lanes",
} as const;

export function describe(model: Model): string {
  const picture = model.pictures.front.value;
  if (picture === null) return "Allocations: loading.";
  const { begin, end } = roundWindow(model.timeline.still.value);
  const place = (value: number) =>
    model.timeline.axis.value === "time" ? exactTime(value) : `event ${count(value)}`;
  const what = `Allocations ${LAYOUT[picture.question.layout]} from ${place(begin)} to ${place(end)}`;
  const highest = highestOf(picture, model.timeline.still.value);
  if (highest === null) return `${what}: nothing here.`;
  const { tile, column, total } = highest;
  const number = counted(tile.columns.count[column] as number, "allocation");
  const at = instantTitle(tile.columns.event[column] as number, known(tile.columns.time[column]));
  return `${what}. Highest: ${bytes(total)} (${exactBytes(total)}) in ${number} at ${at}.`;
}
