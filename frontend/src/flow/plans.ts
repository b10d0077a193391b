/** The plan of the compiler that is looked at: asked for, and taken in once it is there. */

import { computed, effect } from "@preact/signals";
import { getPlan, type Target } from "../api";
import { deviceKey } from "../state";
import { isPlan, plan, sourceId, summary } from "../state/recording";
import { resource } from "../state/resource";
import { applyPlan } from "./choose";

const asked = resource<Target, Awaited<ReturnType<typeof getPlan>>>(() => {
  const [source, known, key] = [sourceId.value, summary.value, deviceKey.value];
  return source && known && key && isPlan.value
    ? { source, version: known.version, device: key }
    : null;
}, getPlan).answer;

/** Why there is no plan, in words. */
export const planError = computed(() => asked.value.error);

/** Takes in what is answered; the answer ends it. */
export function followPlan(): () => void {
  return effect(() => {
    const found = asked.value.data;
    if (found && found !== plan.peek()) applyPlan(found);
  });
}
