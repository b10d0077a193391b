/** Which groups of the breakdown are unfolded. */

import { signal } from "@preact/signals";

export const unfolded = signal<ReadonlySet<string>>(new Set());

export function toggle(key: string): void {
  const next = new Set(unfolded.value);
  if (!next.delete(key)) next.add(key);
  unfolded.value = next;
}
