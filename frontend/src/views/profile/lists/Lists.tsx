/** What stands under the chart: what memory is made of at the cursor, operators, all allocations. */

import { hasHistory } from "../../../state/recording";
import { TABLES, type TableKey, table } from "../../../state/view";
import { Breakdown } from "../breakdown/Breakdown";
import { Lives } from "./Lives";
import { Operators } from "./Operators";
import "./lists.css";

const LABELS: Readonly<Record<TableKey, string>> = {
  breakdown: "Breakdown",
  operators: "Operators",
  allocations: "Allocations",
};
const TITLES: Readonly<Record<TableKey, string>> = {
  breakdown: "What memory is made of at the cursor",
  operators: "What operators did to memory in the window",
  allocations: "Every allocation of the window, whatever became of it",
};

export function Lists() {
  // Of one moment there is nothing but what it is made of.
  if (!hasHistory.value) return <Breakdown />;
  const shown = table.value;
  return (
    <div class="lists">
      <div class="lists-tabs" role="tablist" aria-label="Tables">
        {TABLES.map((key) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`list-${key}`}
            aria-selected={key === shown}
            title={TITLES[key]}
            onClick={() => (table.value = key)}
          >
            {LABELS[key]}
          </button>
        ))}
      </div>
      <div role="tabpanel" aria-labelledby={`list-${shown}`}>
        {shown === "breakdown" && <Breakdown />}
        {shown === "operators" && <Operators />}
        {shown === "allocations" && <Lives />}
      </div>
    </div>
  );
}
