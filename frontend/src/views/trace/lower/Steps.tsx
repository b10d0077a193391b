/** Memory within steps, laid over each other from where each begins; the odd one stands out. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { getSteps, type StepSum, type TraceSteps } from "../../../api";
import { target } from "../../../flow/questions";
import { goToSpan } from "../../../flow/spans";
import { bytes, counted, duration, exactBytes, signedBytes } from "../../../format";
import { resource } from "../../../state/resource";
import { chosenSteps, toggled } from "../../../state/trace";
import { Listed } from "../../../tables/lists/Parts";
import type { Model } from "../model";
import { Curves } from "./Curves";
import { oddOne } from "./odd";

/** Steps that lie over each other at first, and at most. */
const FIRST = 12;
const MOST = 64;

export function Steps({ model }: { model: Model }) {
  const over = useSignal<string | null>(null);
  const listed = useMemo(
    () =>
      resource(() => (target.value ? { ...target.value, steps: "", width: 1 } : null), getSteps),
    [],
  );
  const all = useComputed(() => listed.answer.value.data?.steps ?? []);
  const ids = useComputed(() => chosenSteps.value ?? all.value.slice(0, FIRST).map(({ id }) => id));
  const drawn = useMemo(
    () =>
      resource(() => {
        const steps = ids.value.slice(0, MOST).join(",");
        const width = Math.max(Math.round(model.timeline.plot.value.width), 1);
        return target.value && steps !== "" ? { ...target.value, steps, width } : null;
      }, getSteps),
    [],
  );
  useEffect(
    () => () => {
      listed.dispose();
      drawn.dispose();
    },
    [listed, drawn],
  );
  const { data, error, loading } = listed.answer.value;
  const curves: TraceSteps | null = ids.value.length === 0 ? null : drawn.answer.value.data;
  const odd = oddOne(all.value.filter(({ id }) => ids.value.includes(id)));
  return (
    <section class="breakdown" aria-label="Steps over each other">
      <div class="tools">
        <h2 class="at">
          Memory within {counted(Math.min(ids.value.length, MOST), "step")}, from where each begins
          {data && <span class="quiet">of {counted(data.steps.length + data.hidden, "step")}</span>}
        </h2>
        <span class="right">
          <button
            type="button"
            class="button"
            onClick={() => (chosenSteps.value = all.value.slice(0, MOST).map(({ id }) => id))}
          >
            {all.value.length > MOST ? `first ${MOST}` : "all"}
          </button>
          <button type="button" class="button" onClick={() => (chosenSteps.value = [])}>
            none
          </button>
        </span>
      </div>
      {curves !== null && (
        <Curves curves={curves} odd={odd} over={over} width={model.timeline.width.value} />
      )}
      <Listed error={error ?? drawn.answer.value.error} loading={loading} has={data !== null}>
        <Table steps={all.value} chosen={ids.value} odd={odd} over={over} />
      </Listed>
    </section>
  );
}

interface TableProps {
  steps: readonly StepSum[];
  chosen: readonly string[];
  odd: string | null;
  over: { value: string | null };
}

function Table({ steps, chosen, odd, over }: TableProps) {
  if (steps.length === 0) {
    return (
      <p class="nothing quiet">
        This recording has no steps: call step() of the profiler or the writer.
      </p>
    );
  }
  return (
    <table class="groups list" aria-label="Steps">
      <thead>
        <tr>
          {["Step", "Lasts", "Before", "Peak", "After less before", "Allocated", "Freed"].map(
            (head, at) => (
              <th key={head} scope="col" class={at === 0 ? "" : "number"}>
                {head}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr
            key={step.id}
            class={step.id === odd ? "holds" : ""}
            data-step={step.id}
            onPointerEnter={() => (over.value = step.id)}
            onPointerLeave={() => (over.value = null)}
          >
            <td class="name">
              <label>
                <input
                  type="checkbox"
                  checked={chosen.includes(step.id)}
                  onChange={() => (chosenSteps.value = toggled(chosen, step.id))}
                />{" "}
              </label>
              <button type="button" class="link" onClick={() => goToSpan(step)}>
                {step.name}
              </button>
              {step.id === odd && <span class="trace-odd"> differs most</span>}
            </td>
            <td class="number">{duration(step.end - step.begin)}</td>
            <Bytes value={step.before} />
            <Bytes value={step.peak} />
            <Bytes value={step.after - step.before} isChange />
            <Bytes value={step.allocated} />
            <Bytes value={step.freed} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bytes({ value, isChange = false }: { value: number; isChange?: boolean }) {
  return (
    <td class="number" title={exactBytes(value)}>
      {isChange && value !== 0 ? signedBytes(value) : bytes(value)}
    </td>
  );
}
