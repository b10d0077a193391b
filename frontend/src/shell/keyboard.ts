/** Keys that work wherever the focus is, except while typing. */

import { panned, zoomed } from "../state/navigate";
import { extent, hasHistory } from "../state/recording";
import { axis, bytesRange, cursor, hover, range, selection, type Window } from "../state/view";
import { drawer } from "./drawer";
import { help } from "./Help";

const PAN = 0.2;
const ZOOM = 1.5;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
  );
}

function move(change: (shown: Window, all: Window) => Window | null): void {
  const everything = extent.value;
  if (everything && hasHistory.value) range.value = change(range.value ?? everything, everything);
}

/** Zooms about what is under the pointer, else the cursor, where the axis counts in events. */
function anchor(shown: Window): number | undefined {
  const at = hover.value ?? cursor.value;
  const usable = axis.value === "event" && at !== null && at >= shown.begin && at <= shown.end;
  return usable ? at : undefined;
}

const zoom = (factor: number): void =>
  move((shown, all) => zoomed(shown, all, factor, anchor(shown)));
const pan = (share: number): void => move((shown, all) => panned(shown, all, share));

/** Undoes the last layer: what is unfolded, then what is selected, then the zoom. */
function stepBack(): void {
  if (help.value) help.value = false;
  else if (drawer.value) drawer.value = false;
  else if (selection.value) selection.value = null;
  else if (range.value || bytesRange.value) {
    range.value = null;
    bytesRange.value = null;
  } else cursor.value = null;
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  w: () => zoom(1 / ZOOM),
  s: () => zoom(ZOOM),
  a: () => pan(-PAN),
  d: () => pan(PAN),
  ArrowLeft: () => pan(-PAN),
  ArrowRight: () => pan(PAN),
  Escape: stepBack,
  "/": () => document.querySelector<HTMLElement>("[data-shortcut='/']")?.focus(),
  "?": () => {
    help.value = !help.value;
  },
};

export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  if (help.value && event.key !== "Escape" && event.key !== "?") return;
  const action = ACTIONS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
