/** The views of the page. A view registers itself; the shell knows none by name. */

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

export interface View {
  key: string;
  label: string;
  /** Place among the tabs, small first. */
  order: number;
  component: ComponentType;
}

export const views = signal<readonly View[]>([]);

export function registerView(view: View): void {
  const others = views.value.filter(({ key }) => key !== view.key);
  views.value = [...others, view].sort((a, b) => a.order - b.order);
}
