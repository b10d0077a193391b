/** The Memory Viewer from top to bottom: the plan in numbers, advice, the curve, the buffers. */

import { useEffect, useMemo } from "preact/hooks";
import type { Plan } from "../../api";
import { Notes } from "../../components/Notes";
import { hasHistory, shownPlan } from "../../state/recording";
import { AtCursor } from "../../tables/AtCursor";
import { Lists, type Table } from "../../tables/lists/Lists";
import { createModel } from "../../timeline/model";
import { Timeline } from "../../timeline/Timeline";
import { Advices } from "./Advices";
import { Bars } from "./Bars";
import { Compare } from "./Compare";
import { Overview } from "./Overview";
import { Tree } from "./Tree";
import { followUnpadded } from "./unpadded";
import "../../components/numbers.css";
import "./plan.css";

const MORE: readonly Table[] = [
  {
    key: "tree",
    label: "Tree",
    title: "What is alive at the cursor, by the framework's scopes and operations",
    component: Tree,
  },
  {
    key: "compare",
    label: "Compare",
    title: "This plan beside another one, at their peaks: what grew",
    component: Compare,
  },
];

export function PlanView() {
  const shown = shownPlan.value;
  return shown ? <Shown key={shown.device.key} plan={shown} /> : null;
}

function Shown({ plan }: { plan: Plan }) {
  const model = useMemo(() => createModel(), []);
  useEffect(() => {
    const stop = followUnpadded(model);
    return () => {
      stop();
      model.dispose();
    };
  }, [model]);
  return (
    <div class="profile plan">
      <Overview plan={plan.overview} />
      <Notes />
      <Advices plan={plan.overview} />
      <Timeline model={model} />
      {hasHistory.value && <AtCursor model={model} />}
      <Bars model={model} />
      <Lists model={model} more={MORE} />
    </div>
  );
}
