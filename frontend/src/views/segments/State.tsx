/** The state at the cursor in numbers, and where they contradict each other. */

import type { Measure, StateAbout } from "../../api";
import { Fact, Size } from "../../components/Fact";
import { bytes, count, exactBytes } from "../../format";
import { hasHistory } from "../../state";
import { momentWords } from "../../state/moment";
import type { Model } from "./model";

export function State({ model }: { model: Model }) {
  const about = model.state.value?.about;
  const { error } = model.answer.value;
  return (
    <>
      {about && <Numbers about={about} />}
      {error && (
        <p class="danger" role="alert">
          {error}
        </p>
      )}
      {about?.problems.map((problem) => (
        <p class="segments-problem" role="note" key={problem}>
          {problem}
        </p>
      ))}
    </>
  );
}

function Numbers({ about }: { about: StateAbout }) {
  const held = about.reserved ?? about.mapped;
  const outside = about.outside.count > 0 && about.count > 0 ? about.outside : null;
  return (
    <dl class="numbers" aria-label="State of the allocator" data-testid="segments-state">
      {hasHistory.value && (
        <Fact label="After" title={`Event ${about.event}`}>
          <span data-event={about.event}>{momentOf(about)}</span>
        </Fact>
      )}
      <Fact
        label={about.reserved === null ? "In segments" : "Reserved"}
        title={`${exactBytes(held)} held from the driver`}
        exact={held}
      >
        <Size value={held} />
      </Fact>
      <Fact label="Allocated" title={exactBytes(about.allocated)} exact={about.allocated}>
        <Size value={about.allocated} />
      </Fact>
      {about.basis === "requested" && <Rounding about={about} />}
      <Fact
        label="Pending free"
        title={`${exactBytes(about.pending)} freed by the program, that another stream may still use`}
        exact={about.pending}
      >
        <Size value={about.pending} />
      </Fact>
      <Fact
        label="Free"
        title={`${exactBytes(about.free)} held and in no block`}
        exact={about.free}
        note={`largest ${bytes(about.largest_free)}`}
      >
        <Size value={about.free} />
      </Fact>
      <Fragmentation name="Fragmentation" of={about.fragmentation.reserved} />
      <Fragmentation name="Fragmentation, free list" of={about.fragmentation.free_list} />
      {outside && (
        <Fact
          label="In no segment"
          title={`${exactBytes(outside.bytes)} alive where the recording knows of no segment`}
          note={`${count(outside.count)} allocations`}
        >
          <Size value={outside.bytes} />
        </Fact>
      )}
    </dl>
  );
}

const momentOf = ({ event, time, step }: StateAbout): string =>
  event < 0 ? "the start" : `event\u00a0${count(event)}${placeOf(time, step)}`;

function placeOf(time: number | null, step: number | null): string {
  if (time === null && step === null) return "";
  return `, ${momentWords({ event: null, time, step })}`;
}

function Rounding({ about }: { about: StateAbout }) {
  const rounding = about.used - about.requested;
  return (
    <Fact
      label="Rounding"
      title={`${exactBytes(rounding)} that blocks are larger than what was asked for. Of blocks that are gone by the end it is worked out from the allocator's rules.`}
      exact={rounding}
    >
      <Size value={rounding} />
    </Fact>
  );
}

function Fragmentation({ name, of }: { name: string; of: Measure }) {
  if (of.value === null) return null;
  return (
    <Fact label={name} title={`${of.formula} = ${of.value}`} note={of.formula}>
      {`${(100 * of.value).toFixed(1).replace("-", "−")}\u00a0%`}
    </Fact>
  );
}
