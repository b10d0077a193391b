/** Puts the page into TensorBoard's frame: style sheet, theme, state, then the shell. */

import { render } from "preact";
import { watchVisibility } from "../state/visible";
import { watchTheme } from "../theme/theme";
import { Timeline } from "../views/profile/timeline/Timeline";

export function start(frame: Window): void {
  watchTheme(frame);
  watchVisibility(frame);
  render(<Timeline />, frame.document.body);
}
