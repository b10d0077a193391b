/** The operations that cause most of the padding at the peak, each a link to its largest buffer. */

import type { PaddingCause, PlanOverview } from "../../api";
import { bytes, counted, exactBytes } from "../../format";
import { selection } from "../../state/view";
import { pointingAt } from "../../timeline/cards";

/** Of less padding than this part of the peak there is nothing to say. */
const SEEN = 0.001;

export function Causes({ plan }: { plan: PlanOverview }) {
  const { count, causes } = plan.padded;
  if (plan.peak - plan.unpadded_peak < SEEN * plan.peak || causes.length === 0) return null;
  const told = causes.reduce((sum, cause) => sum + cause.count, 0);
  return (
    <p class="plan-said quiet" data-testid="padding-causes">
      {"Padding is of "}
      {causes.map((cause, at) => (
        <span key={cause.id}>
          {at > 0 && (at === causes.length - 1 && told === count ? " and " : ", ")}
          <Cause of={cause} />
        </span>
      ))}
      {told < count && ` and ${counted(count - told, "smaller buffer")}`}.
    </p>
  );
}

function Cause({ of }: { of: PaddingCause }) {
  const name = of.op ?? of.instruction ?? "an instruction without a name";
  return (
    <>
      <button
        type="button"
        class="link"
        title={`Explain ${of.instruction ?? "its largest buffer"}`}
        onClick={() => (selection.value = { kind: "allocation", id: of.id })}
        {...pointingAt(of.id)}
      >
        {name}
      </button>{" "}
      <span title={exactBytes(of.bytes)} data-bytes={of.bytes}>
        ({bytes(of.bytes)}
        {of.count > 1 && ` in ${counted(of.count, "buffer")}`})
      </span>
    </>
  );
}
