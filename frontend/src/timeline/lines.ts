/** Which lines and areas the chart draws, as the legend switches them. */

import { computed, signal } from "@preact/signals";
import type { Device } from "../api";
import { areas, device } from "../state";

/** Where stack and heap together are less of all memory than this, what is free is left out at first. */
const SEEN = 0.1;

/** `followsAreas`: the chart is divided by area where that is chosen and the allocator reports it. */
export function createLines(followsAreas: boolean) {
  const showFragmentation = signal(false);
  /** By area: the free list's fragmentation, and what is free (null: if the rest can be seen then). */
  const showFreeList = signal(true);
  const chosenFree = signal<boolean | null>(null);
  const byArea = computed(
    () => followsAreas && areas.value === "allocator" && (device.value?.areas.length ?? 0) > 0,
  );
  return {
    showReserved: signal(true),
    showCapacity: signal(true),
    showFragmentation,
    showFreeList,
    chosenFree,
    byArea,
    showFree: computed(() => chosenFree.value ?? isSeenBesideFree(device.value)),
    isFragmentationShown: computed(() =>
      byArea.value ? showFreeList.value : showFragmentation.value,
    ),
  };
}

/** Whether stack and heap can be told from nothing where what is free is drawn on top. */
function isSeenBesideFree(of: Device | null): boolean {
  const said = of?.allocator;
  if (!said) return true;
  return said.peak >= SEEN * (said.peak + (said.free ?? 0));
}
