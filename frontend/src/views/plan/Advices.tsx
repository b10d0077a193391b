/** What could be done about the plan, the findings about the most bytes first. */

import type { Advice, PlanOverview } from "../../api";
import { bytes, exactBytes } from "../../format";
import { selection } from "../../state/view";
import { pointingAt } from "../../timeline/cards";

export function Advices({ plan }: { plan: PlanOverview }) {
  if (plan.advice.length === 0) return null;
  return (
    <ul class="advices" aria-label="Advice">
      {plan.advice.map((one) => (
        <One key={one.kind + one.ids.join()} one={one} />
      ))}
    </ul>
  );
}

function One({ one }: { one: Advice }) {
  const [first] = one.ids;
  return (
    <li>
      <strong title={exactBytes(one.bytes)}>{bytes(one.bytes)}</strong> {one.says}.{" "}
      <span class="quiet">{one.cure}</span>{" "}
      {first !== undefined && (
        <button
          type="button"
          class="link"
          onClick={() => (selection.value = { kind: "allocation", id: first })}
          {...pointingAt(first)}
        >
          show {one.count > 1 ? "the first" : "it"}
        </button>
      )}
    </li>
  );
}
