/** What stands under the chart: what memory is made of at the cursor, and lists of the window. */

import type { ComponentType } from "preact";
import { Segmented } from "../../components/Segmented";
import { device, hasHistory, isPlan } from "../../state/recording";
import { type TableKey, table } from "../../state/view";
import type { Model } from "../../timeline/model";
import { Breakdown } from "../breakdown/Breakdown";
import { Events } from "./Events";
import { Lives } from "./Lives";
import { Modules } from "./Modules";
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
    title: "Every allocation of the window, whatever became of it, or at the cursor",
  },
  {
    key: "modules",
    label: "Modules",
    reason: null,
    title: "Runs of HLO modules in the window or at the cursor",
  },
  {
    key: "events",
    label: "Events",
    reason: null,
    title: "The whole history, event by event",
  },
] as const;

/** Its name and what it is, where a plan is looked at. */
const told = ({ key, label, title }: { key: string; label: string; title: string }) =>
  key === "allocations" && isPlan.value
    ? { label: "Buffers", title: "Every buffer of the window of program order, or at the cursor" }
    : { label, title };

/** A table of one view only. */
export interface Table {
  key: TableKey;
  label: string;
  title: string;
  component: ComponentType;
}

interface Properties {
  model: Model;
  more?: readonly Table[];
}

export function Lists({ model, more = [] }: Properties) {
  // Of one moment there is nothing but what it is made of: of a plan, buffers.
  if (!hasHistory.value && !isPlan.value) return <Breakdown />;
  // Modules are of XPlanes only; a link may still name them.
  const own = OPTIONS.filter(
    ({ key }) =>
      (key !== "modules" || (device.value?.modules ?? 0) > 0) &&
      (key !== "operators" || !isPlan.value) &&
      (key !== "events" || hasHistory.value),
  );
  const options: { key: TableKey; label: string; reason: null; title: string }[] = [
    ...own.map((each) => ({ ...each, ...told(each) })),
    ...more.map((each) => ({ ...each, reason: null })),
  ];
  const Other = more.find(({ key }) => key === table.value)?.component;
  const shown = options.find(({ key }) => key === table.value)?.key ?? "breakdown";
  return (
    <div class="lists">
      <Segmented
        label="Tables"
        options={options}
        value={shown}
        choose={(next) => (table.value = next)}
      />
      {shown === "breakdown" && <Breakdown />}
      {shown === "operators" && <Operators />}
      {shown === "allocations" && <Lives />}
      {shown === "modules" && <Modules model={model} />}
      {shown === "events" && <Events model={model} />}
      {Other && <Other />}
    </div>
  );
}
