/** Puts the page into TensorBoard's frame: style sheet, theme, state, then the shell. */

import { effect } from "@preact/signals";
import { render } from "preact";
import "../components/components.css";
import { startFlow } from "../flow";
import "../theme/theme.css";
import { watchVisibility } from "../state/visible";
import { borrowFonts } from "../theme/fonts";
import { dark, watchTheme } from "../theme/theme";
import "../views";
import { Shell } from "./Shell";
import "./shell.css";

/** The sheet lies beside this module, wherever TensorBoard serves it from. */
function styleSheet(): Promise<void> {
  const here: string = import.meta.url;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("index.css", here).href;
  return new Promise((resolve, reject) => {
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => reject(new Error("index.css is missing beside index.js")));
    document.head.append(link);
  });
}

export async function start(frame: Window): Promise<void> {
  frame.document.documentElement.lang = "en";
  frame.document.title = "Memory";
  watchTheme(frame);
  effect(() => {
    frame.document.documentElement.dataset.theme = dark.value ? "dark" : "light";
  });
  watchVisibility(frame);
  borrowFonts(frame);
  // Panels measure themselves when they appear, so the sheet comes first.
  await styleSheet();
  startFlow(frame);
  render(<Shell />, frame.document.body);
}
