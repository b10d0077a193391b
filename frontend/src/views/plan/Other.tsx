/** The plan that is compared with: of this recording, or of another that is read for it. */

import { computed, effect, signal } from "@preact/signals";
import { getOpen, getSummary, type PlanListed, type Summary, type Target } from "../../api";
import { bytes } from "../../format";
import { sourceId, sourceList, summary } from "../../state/recording";
import { deviceKey } from "../../state/view";

const POLL_MS = 300;
/** Formats whose recordings may hold plans. */
const PLANNED = ["xplane", "hlo"];

/** Null: this recording. */
const chosenSource = signal<string | null>(null);
const chosenPlan = signal<string | null>(null);
/** The summary of another recording, once that is read, or why there is none. */
const theirs = signal<{ id: string; summary: Summary | null; error: string | null } | null>(null);

const from = computed<{ id: string; summary: Summary } | null>(() => {
  const id = chosenSource.value ?? sourceId.value;
  const known = chosenSource.value === null ? summary.value : theirs.value?.summary;
  return id !== null && known && (chosenSource.value === null || theirs.value?.id === id)
    ? { id, summary: known }
    : null;
});

/** What is compared with; null before it is chosen. */
export const other = computed<Target | null>(() => {
  const [where, key] = [from.value, chosenPlan.value];
  if (!where || key === null) return null;
  if (!where.summary.plans.some((plan) => plan.key === key)) return null;
  return { source: where.id, version: where.summary.version, device: key };
});

effect(() => {
  const id = chosenSource.value;
  if (id === null) return;
  const controller = new AbortController();
  void read(id, controller.signal);
  return () => controller.abort();
});

async function read(id: string, abort: AbortSignal): Promise<void> {
  const tell = (found: Summary | null, error: string | null): void => {
    if (!abort.aborted) theirs.value = { id, summary: found, error };
  };
  tell(null, null);
  try {
    for (;;) {
      const status = await getOpen(id, abort);
      if (status.state === "error") return tell(null, status.error);
      if (status.state === "ready") return tell(await getSummary(id, abort), null);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (abort.aborted) return;
    }
  } catch (error) {
    tell(null, error instanceof Error ? error.message : String(error));
  }
}

export function Other() {
  const sources = (sourceList.value?.sources ?? []).filter(
    ({ id, format, state }) =>
      id !== sourceId.value && PLANNED.includes(format) && state !== "error",
  );
  const where = from.value;
  return (
    <div class="plan-other">
      <label class="labelled">
        <span class="quiet">compare with</span>
        <select
          class="field choice"
          aria-label="Recording to compare with"
          value={chosenSource.value ?? ""}
          onChange={(event) => {
            chosenSource.value = event.currentTarget.value || null;
            chosenPlan.value = null;
          }}
        >
          <option value="">this recording</option>
          {sources.map(({ id, run, name }) => (
            <option key={id} value={id}>
              {[run === "." ? "" : run, name].filter(Boolean).join(" / ")}
            </option>
          ))}
        </select>
      </label>
      <select
        class="field choice"
        aria-label="Module to compare with"
        value={chosenPlan.value ?? ""}
        disabled={where === null}
        onChange={(event) => (chosenPlan.value = event.currentTarget.value || null)}
      >
        <option value="">{where === null ? "reading …" : "a module …"}</option>
        {where && ordered(where.summary.plans, where.id).map(named)}
      </select>
      {chosenSource.value !== null && theirs.value?.error && (
        <span class="danger">{theirs.value.error}</span>
      )}
    </div>
  );
}

/** All but the one that is looked at, the largest first. */
const ordered = (plans: readonly PlanListed[], id: string): PlanListed[] =>
  plans
    .filter(({ key }) => id !== sourceId.value || key !== deviceKey.value)
    .sort((a, b) => b.peak - a.peak);

const named = (plan: PlanListed) => (
  <option key={plan.key} value={plan.key}>
    {plan.module}({plan.program}) · {plan.space}, {bytes(plan.peak)}
  </option>
);
