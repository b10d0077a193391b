/** The Memory Viewer from top to bottom: the plan in numbers, advice, the curve, the buffers. */

import { useEffect, useMemo } from "preact/hooks";
import type { Plan } from "../../api";
import { Notes } from "../../components/Notes";
import { hasHistory, shownPlan } from "../../state/recording";
import { AtCursor } from "../../tables/AtCursor";
import { Lists } from "../../tables/lists/Lists";
import { createModel } from "../../timeline/model";
import { Timeline } from "../../timeline/Timeline";
import { Advices } from "./Advices";
import { Bars } from "./Bars";
import { Overview } from "./Overview";
import "../../components/numbers.css";
import "./plan.css";

export function PlanView() {
  const shown = shownPlan.value;
  return shown ? <Shown key={shown.device.key} plan={shown} /> : null;
}

function Shown({ plan }: { plan: Plan }) {
  const model = useMemo(() => createModel(), []);
  useEffect(() => model.dispose, [model]);
  return (
    <div class="profile plan">
      <Overview plan={plan.overview} />
      <Notes />
      <Advices plan={plan.overview} />
      <Timeline model={model} />
      {hasHistory.value && <AtCursor model={model} />}
      <Bars />
      <Lists model={model} />
    </div>
  );
}
