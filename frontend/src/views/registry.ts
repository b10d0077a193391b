/** The views of the page. A view registers itself; the shell knows none by name. */

import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { Axis } from "../api/types";
import { isPlan } from "../state/recording";
import { viewKey } from "../state/view";

export interface View {
  key: string;
  label: string;
  /** Place among the tabs, small first. */
  order: number;
  component: ComponentType;
  /** What it can show: only devices, or only plans of the compiler; without a word both. */
  of?: "device" | "plan";
  /** The axis that all of it lies on, where it has no other. */
  axis?: Axis;
}

export const views = signal<readonly View[]>([]);

/** Those that can show what is looked at. */
export const shownViews = computed<readonly View[]>(() =>
  views.value.filter(({ of }) => of === undefined || of === (isPlan.value ? "plan" : "device")),
);

/** The one that is chosen; where that cannot show what is looked at, the first that can. */
export const shownView = computed<View | undefined>(
  () => shownViews.value.find(({ key }) => key === viewKey.value) ?? shownViews.value[0],
);

export function registerView(view: View): void {
  const others = views.value.filter(({ key }) => key !== view.key);
  views.value = [...others, view].sort((a, b) => a.order - b.order);
}
