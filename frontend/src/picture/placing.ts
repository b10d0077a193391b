/** Where a picture that was drawn for one view lies in another: how it follows the hand at once. */

import type { View } from "../drawing/sheet";
import { type Range, span, toPixel } from "../timeline/scale";
import type { Plot } from "../timeline/scene";

/**
 * The transform of a bitmap that lies on its side (u along bytes from the bottom, v along the axis)
 * into the plot: CSS pixels from its upper left corner.
 */
export function placed(view: View, window: Range, bytes: Range, plot: Plot): string {
  const across = ((view.end - view.begin) / span(window)) * (plot.width / view.width);
  const up = ((view.high - view.low) / span(bytes)) * (plot.height / view.height);
  const left = toPixel(window, plot.width, view.begin);
  const bottom = plot.height - toPixel(bytes, plot.height, view.low);
  return `matrix(0, ${-up}, ${across}, 0, ${left}, ${bottom})`;
}
