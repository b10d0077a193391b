/** Panels moved, folded and resized: their order is a list that is replaced. */

import { type Panel, type PanelKey, panels } from "../../state/trace";

export const TITLES: Readonly<Record<PanelKey, string>> = {
  usage: "Memory",
  steps: "Steps and annotations",
  host: "Host threads",
  device: "Device streams",
  allocations: "Allocations",
};

/** Pixels of a panel that nobody has resized. */
const HEIGHTS: Readonly<Record<PanelKey, number>> = {
  usage: 160,
  steps: 0,
  host: 240,
  device: 150,
  allocations: 250,
};
export const LEAST = 60;
export const MOST = 2000;

export const heightOf = ({ key, height }: Panel): number => height ?? HEIGHTS[key];

/** Whether its height is anybody's choice. */
export const isSizable = ({ key }: Panel): boolean => HEIGHTS[key] > 0;

function change(key: PanelKey, to: Partial<Panel>): void {
  panels.value = panels.peek().map((panel) => (panel.key === key ? { ...panel, ...to } : panel));
}

export const fold = (panel: Panel): void => change(panel.key, { isFolded: !panel.isFolded });

export const resize = ({ key }: Panel, height: number): void =>
  change(key, { height: Math.round(Math.min(Math.max(height, LEAST), MOST)) });

/** Puts a panel at a place among the others. */
export function moveTo(key: PanelKey, place: number): void {
  const all = panels.peek();
  const panel = all.find((each) => each.key === key);
  const others = all.filter((each) => each.key !== key);
  if (panel === undefined || place < 0 || place > others.length) return;
  panels.value = [...others.slice(0, place), panel, ...others.slice(place)];
}
