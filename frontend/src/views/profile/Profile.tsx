/** The Profile view from top to bottom: numbers, notes, the timeline, the breakdown. */

import { useEffect, useMemo } from "preact/hooks";
import type { Device } from "../../api";
import { NoDevice } from "../../components/NoDevice";
import { Notes } from "../../components/Notes";
import { sentence } from "../../format";
import { about, device, hasHistory, summary } from "../../state/recording";
import { AtCursor } from "../../tables/AtCursor";
import { Lists } from "../../tables/lists/Lists";
import { Numbers } from "./Numbers";
import "../../components/numbers.css";
import "./profile.css";
import { createModel } from "../../timeline/model";
import { Timeline } from "../../timeline/Timeline";

export function Profile() {
  const shown = device.value;
  if (!shown) {
    return <NoDevice />;
  }
  return <Shown device={shown} />;
}

function Shown({ device }: { device: Device }) {
  // The lists under the chart move its window and its cursor.
  const model = useMemo(() => createModel(undefined, true), []);
  useEffect(() => model.dispose, [model]);
  return (
    <div class="profile">
      <Numbers device={device} />
      <Notes />
      <Timeline model={model} />
      {hasHistory.value ? <AtCursor model={model} /> : <NoHistory />}
      <Lists model={model} />
    </div>
  );
}

/** Why there is no curve, and how to have one. */
function NoHistory() {
  const said = about.value?.missing.find(({ what }) => what === "history");
  if (said && summary.value?.format !== "torch_snapshot") {
    return (
      <p class="no-history" role="note">
        {sentence(said.why)} {said.remedy && sentence(said.remedy)}
      </p>
    );
  }
  return (
    <p class="no-history" role="note">
      This recording holds what was alive at its end, but no history, so there is no curve to draw.
      For a history, call <code>torch.cuda.memory._record_memory_history()</code> before the part
      that matters, or record with <code>MemoryWriter</code>.
    </p>
  );
}
