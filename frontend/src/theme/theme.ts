/** Light or dark as TensorBoard is, and the colours of it for what is drawn on a canvas. */

import { computed, signal } from "@preact/signals";
import { sourceId } from "../state/recording";
import { by } from "../state/view";
import { Colours } from "./palette";

export const dark = signal(false);

/** Colours that canvases need; CSS has the same as variables (theme.css). */
export interface Ink {
  background: string;
  text: string;
  quiet: string;
  line: string;
  track: string;
  accent: string;
  cursor: string;
  danger: string;
}

const LIGHT: Ink = {
  background: "#ffffff",
  text: "#212121",
  quiet: "#616161",
  line: "#e0e0e0",
  track: "#eceff1",
  accent: "#f57c00",
  cursor: "#1565c0",
  danger: "#c62828",
};

const DARK: Ink = {
  background: "#303030",
  text: "#ffffff",
  quiet: "#bdbdbd",
  line: "#555555",
  track: "#424242",
  accent: "#ffa726",
  cursor: "#90caf9",
  danger: "#ff8a80",
};

export const ink = computed(() => (dark.value ? DARK : LIGHT));

/** Colours handed out while a recording is grouped one way. */
const taken = computed(() => {
  // Read to start afresh for another recording or grouping.
  sourceId.value;
  by.value;
  return { slots: new Map<string, number>(), moves: signal(0) };
});

/** One colour a group, the same in chart, legend and tables. */
export const colours = computed(() => {
  const { slots, moves } = taken.value;
  // Read to be told when a group has to have another one; said later, since views ask while drawing.
  moves.value;
  const moved = (): void => queueMicrotask(() => moves.value++);
  return new Colours(dark.value ? "dark" : "light", slots, moved);
});

/** Follows TensorBoard's own toggle, else its `darkMode` parameter, else the system. */
export function watchTheme(frame: Window): () => void {
  const system = frame.matchMedia("(prefers-color-scheme: dark)");
  const parent = reachableParent(frame);
  const update = (): void => {
    dark.value = parent ? isDark(parent) : system.matches;
  };
  update();
  if (!parent) {
    system.addEventListener("change", update);
    return () => system.removeEventListener("change", update);
  }
  const observer = new MutationObserver(update);
  observer.observe(parent.document.body, { attributes: true, attributeFilter: ["class"] });
  return () => observer.disconnect();
}

function isDark(parent: Window): boolean {
  if (parent.document.body.classList.contains("dark-mode")) return true;
  return new URLSearchParams(parent.location.search).get("darkMode") === "true";
}

/** TensorBoard's page, if this one is framed by it and from the same origin. */
function reachableParent(frame: Window): Window | null {
  if (frame.parent === frame) return null;
  try {
    return frame.parent.document.body ? frame.parent : null;
  } catch {
    return null;
  }
}
