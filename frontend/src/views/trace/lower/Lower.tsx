/** Under the panels: memory by span, and steps over each other. */

import { Segmented } from "../../../components/Segmented";
import { type LowerKey, lower } from "../../../state/trace";
import type { Model } from "../model";
import { Steps } from "./Steps";
import { Sums } from "./Sums";

const OPTIONS = [
  { key: "spans", label: "memory by span", reason: null },
  { key: "steps", label: "steps over each other", reason: null },
] as const satisfies readonly { key: LowerKey; label: string; reason: null }[];

export function Lower({ model }: { model: Model }) {
  return (
    <div class="lists trace-lower">
      <Segmented
        label="What is listed"
        value={lower.value}
        choose={(next) => (lower.value = next)}
        options={OPTIONS}
      />
      {lower.value === "spans" ? <Spans model={model} /> : <Steps model={model} />}
    </div>
  );
}

function Spans({ model }: { model: Model }) {
  const kinds = model.trace.value?.kinds;
  if (kinds === undefined) return null;
  if (kinds.length === 0) return <p class="nothing quiet">There are no spans to be summed up.</p>;
  return <Sums kinds={kinds} />;
}
