/** Which layout is drawn: by address only where the source says where allocations are. */

import { computed } from "@preact/signals";
import { sentence } from "../format";
import { about, device, layout } from "../state";
import type { Layout } from "../state/view";

/** Why a layout cannot be drawn; null if it can. */
export function reasonAgainst(key: Layout): string | null {
  if (key !== "address" || device.value === null || device.value.addresses) return null;
  const lack = about.value?.missing.find(({ what }) => what === "addresses");
  if (lack) return sentence(lack.why);
  return device.value.sums_before_window > 0
    ? "Of what was alive before the window the source has the sum only, and no addresses."
    : "The source does not say where in memory all allocations are.";
}

/** What was asked for, or stacked where that cannot be drawn. */
export const shownLayout = computed<Layout>(() =>
  reasonAgainst(layout.value) === null ? layout.value : "stacked",
);
