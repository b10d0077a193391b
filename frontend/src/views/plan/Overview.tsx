/** A plan in numbers: which module and memory space, its peak, and what it is made of. */

import type { PlanOverview } from "../../api";
import { Fact, Size } from "../../components/Fact";
import { Segmented } from "../../components/Segmented";
import { chooseDevice } from "../../flow/choose";
import { bytes, count, exactBytes, share } from "../../format";
import { SavePlan } from "../../lives/SavePlan";
import { cursor } from "../../state/view";
import { Capacity } from "./Capacity";
import { Causes } from "./Causes";
import { Runs } from "./Runs";

export function Overview({ plan }: { plan: PlanOverview }) {
  return (
    <section class="plan-head" aria-label="The plan">
      <div class="plan-name">
        <h1 class="clip" title={`${plan.module}, program ${plan.program}`}>
          {plan.module}
        </h1>
        <span class="quiet">
          {plan.platform?.toUpperCase() ?? "platform not known"}, program {plan.program}
        </span>
        <Spaces plan={plan} />
        <Capacity peak={plan.peak} isDevice={isDeviceMemory(plan)} />
        <SavePlan />
      </div>
      <dl class="numbers" aria-label="Summary">
        <Peak plan={plan} />
        <Total plan={plan} />
        <Part
          label="Arguments"
          value={plan.parameter}
          title="Parameters of the program, held all the time"
        />
        <Outputs plan={plan} />
        <Part
          label="Temporary"
          value={plan.temporary}
          title="Allocations for what is computed on the way, with their fragmentation"
          note={plan.temporary > 0 && `${bytes(plan.temporary_at_peak)} at the peak`}
        />
        {plan.untraced > 0 && (
          <Part
            label="Untraced"
            value={plan.untraced}
            title="Temporary allocations that no heap trace is of: counted as held all the time"
          />
        )}
        {plan.constant > 0 && (
          <Part label="Constants" value={plan.constant} title="Constants of the program" />
        )}
        <Padding plan={plan} />
        {plan.scoped && (
          <Part
            label="Scoped VMEM"
            value={plan.scoped.bytes}
            title={`The most that one instruction uses by itself: ${plan.scoped.instruction}`}
          />
        )}
        <Compiler plan={plan} />
      </dl>
      {plan.differs.length > 0 && (
        <p class="plan-said quiet">The compiler's own peak differs. {plan.differs.join(" ")}</p>
      )}
      <Causes plan={plan} />
      <Runs />
    </section>
  );
}

const isDeviceMemory = ({ space }: PlanOverview): boolean => /^(HBM|device memory)$/.test(space);

function Spaces({ plan }: { plan: PlanOverview }) {
  if (plan.spaces.length < 2) return <span class="quiet">{plan.space}</span>;
  return (
    <Segmented
      label="Memory space"
      value={plan.key}
      choose={chooseDevice}
      options={plan.spaces.map(({ key, space, peak }) => ({
        key,
        label: space,
        reason: null,
        title: `Peak ${bytes(peak)}`,
      }))}
    />
  );
}

function Peak({ plan }: { plan: PlanOverview }) {
  const note = plan.events > 0 && (
    <button type="button" class="link" onClick={() => (cursor.value = null)}>
      after event {count(plan.peak_event)} of {count(plan.events)}
    </button>
  );
  const title = `${exactBytes(plan.peak)}: the most that is in use at once in ${plan.space}`;
  return (
    <Fact label="Peak" title={title} exact={plan.peak} note={note}>
      <Size value={plan.peak} />
    </Fact>
  );
}

function Total({ plan }: { plan: PlanOverview }) {
  const title =
    `${exactBytes(plan.total)}: all allocations of the space. ` +
    `${exactBytes(plan.fragmentation)} of it are between buffers that do not fit together.`;
  const part = plan.temporary > 0 ? plan.fragmentation / plan.temporary : 0;
  const note =
    plan.fragmentation > 0
      ? `${bytes(plan.fragmentation)} fragmentation${part >= 0.001 ? `, ${(part * 100).toFixed(1)} % of temporary` : ""}`
      : "no fragmentation";
  return (
    <Fact label="Total" title={title} exact={plan.total} note={note}>
      <Size value={plan.total} />
    </Fact>
  );
}

interface PartProperties {
  label: string;
  value: number;
  title: string;
  note?: string | false;
}

function Part({ label, value, title, note }: PartProperties) {
  return (
    <Fact label={label} title={`${exactBytes(value)}. ${title}`} exact={value} note={note}>
      <Size value={value} />
    </Fact>
  );
}

function Outputs({ plan }: { plan: PlanOverview }) {
  const saved = plan.aliased > 0 ? `${bytes(plan.aliased)} in donated arguments` : null;
  const title = `${exactBytes(plan.output)} of outputs. ${exactBytes(plan.aliased)} of them take the memory of donated arguments.`;
  return (
    <Fact label="Outputs" title={title} exact={plan.output} note={saved}>
      <Size value={plan.output} />
    </Fact>
  );
}

function Padding({ plan }: { plan: PlanOverview }) {
  const padding = plan.peak - plan.unpadded_peak;
  const title = `${exactBytes(padding)} of the peak are padding of tiles, those of arguments included`;
  return (
    <Fact
      label="Padding"
      title={title}
      exact={padding}
      note={padding > 0 && share(padding, plan.peak)}
    >
      <Size value={padding} />
    </Fact>
  );
}

/** The other peak in use, and what makes them differ. */
function Compiler({ plan }: { plan: PlanOverview }) {
  const title =
    `${exactBytes(plan.compiler_peak)}: what compiled.memory_analysis() gives as peak memory. It counts ` +
    "all heap traces of all memory spaces, host memory too, one after the other, above the largest buffer " +
    "of each allocation that is held all the time; temporary allocations without a trace are not in it. ";
  const difference = plan.compiler_peak - plan.peak;
  const note =
    difference === 0 ? "the same" : `${difference > 0 ? "+" : "−"}${bytes(Math.abs(difference))}`;
  return (
    <Fact label="Compiler's own peak" title={title} exact={plan.compiler_peak} note={note}>
      <Size value={plan.compiler_peak} />
    </Fact>
  );
}
