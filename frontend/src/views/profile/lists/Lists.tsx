/** What stands under the chart: what memory is made of at the cursor, operators, all allocations. */

import { Segmented } from "../../../components/Segmented";
import { hasHistory } from "../../../state/recording";
import { table } from "../../../state/view";
import { Breakdown } from "../breakdown/Breakdown";
import { Lives } from "./Lives";
import { Operators } from "./Operators";
import "./lists.css";

const OPTIONS = [
  {
    key: "breakdown",
    label: "Breakdown",
    reason: null,
    title: "What memory is made of at the cursor",
  },
  {
    key: "operators",
    label: "Operators",
    reason: null,
    title: "What operators did to memory in the window",
  },
  {
    key: "allocations",
    label: "Allocations",
    reason: null,
    title: "Every allocation of the window, whatever became of it",
  },
] as const;

export function Lists() {
  // Of one moment there is nothing but what it is made of.
  if (!hasHistory.value) return <Breakdown />;
  const shown = table.value;
  return (
    <div class="lists">
      <Segmented
        label="Tables"
        options={OPTIONS}
        value={shown}
        choose={(next) => (table.value = next)}
      />
      {shown === "breakdown" && <Breakdown />}
      {shown === "operators" && <Operators />}
      {shown === "allocations" && <Lives />}
    </div>
  );
}
