/** The buffer of a plan that is pointed at, wherever it is shown: all views of it show which it is. */

import { signal } from "@preact/signals";
import { isPlan } from "./recording";

export interface PointedLife {
  readonly id: string;
  /** Events; null of what is there before the first, and to the end. */
  readonly birth: number | null;
  readonly death: number | null;
  readonly bytes: number;
}

export const pointedLife = signal<PointedLife | null>(null);

/** What lists know of a buffer. */
export interface PointedRow {
  id: string | number;
  birth: number | null;
  death: number | null;
  size: number | null;
}

/** Points at a buffer of a plan, or at none; of an allocator nothing is pointed at. */
export function pointAt(row: PointedRow | undefined): void {
  if (!isPlan.peek()) return;
  pointedLife.value = row
    ? { id: String(row.id), birth: row.birth, death: row.death, bytes: row.size ?? 0 }
    : null;
}

/** Listeners of a table whose rows have their allocations' ids. */
export const pointing = (rows: readonly PointedRow[]) => ({
  onPointerOver: (event: PointerEvent): void => {
    const id = (event.target as HTMLElement).closest<HTMLElement>("tr[data-id]")?.dataset.id;
    pointAt(rows.find((each) => String(each.id) === id));
  },
  onPointerLeave: (): void => {
    pointAt(undefined);
  },
});
