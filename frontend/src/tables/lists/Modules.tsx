/** When HLO modules ran in the window or at the cursor; a click zooms the chart to a run. */

import { getModules, type ModuleRow, type ModulesPage } from "../../api";
import { Clip } from "../../components/Clip";
import { SearchField } from "../../components/SearchField";
import { SortHeader } from "../../components/SortHeader";
import { bytes, counted, duration, exactBytes } from "../../format";
import { cursor, findModule, modulesSort, range, running, selection } from "../../state/view";
import type { Model } from "../../timeline/model";
import { exactTime } from "../../timeline/readout";
import { open } from "../../timeline/trackKeys";
import { walk } from "../breakdown/walk";
import { clockWords, itemOf } from "./model";
import { ToCursor } from "./Parts";
import { Section } from "./Section";
import { useList } from "./useList";

export function Modules({ model }: { model: Model }) {
  const list = useList(
    () => ({
      find: findModule.value,
      sort: modulesSort.value,
      at: running.value ? (cursor.value ?? ("peak" as const)) : null,
    }),
    getModules,
  );
  return (
    <Section
      label="Runs of HLO modules"
      list={list}
      file="modules.csv"
      isNarrowed={findModule.value !== ""}
      heading={(page) => <Heading page={page} />}
      tools={(error) => (
        <>
          <ToCursor
            on={running}
            title="Only what runs between the event that the cursor is on and the next, whatever the window"
          />
          <SearchField
            value={findModule}
            label="Find a module"
            placeholder="Find a module"
            title="A word in its name, its program's id or its device, or /a regular expression/"
            error={error}
          />
        </>
      )}
      all={(page) => page.found}
      table={(page) => <Table page={page} model={model} />}
    />
  );
}

function Heading({ page }: { page: ModulesPage | null }) {
  const where = running.value ? " at the cursor" : range.value === null ? "" : " in the window";
  return (
    <h2 class="at">
      HLO modules{where}
      {page && (
        <span class="quiet" data-testid="modules-total">
          {counted(page.found, "run")} of {counted(page.modules, "module")}
          {page.devices > 1 && ` on ${counted(page.devices, "device")}`}
        </span>
      )}
    </h2>
  );
}

function Table({ page, model }: { page: ModulesPage; model: Model }) {
  return (
    <table class="groups list" aria-label="Runs of HLO modules" onKeyDown={walk}>
      <thead>
        <tr>
          <SortHeader column="name" text="Module" isText sort={modulesSort} />
          <SortHeader column="program" text="Program id" sort={modulesSort} />
          <SortHeader column="on" text="Device" isText sort={modulesSort} />
          <SortHeader column="begin" text="Start" sort={modulesSort} title={SINCE} />
          <SortHeader column="end" text="End" sort={modulesSort} title={SINCE} />
          <SortHeader column="duration" text="Duration" sort={modulesSort} />
          <SortHeader column="before" text="In use at start" sort={modulesSort} title={BEFORE} />
          <SortHeader column="peak" text="Highest" sort={modulesSort} title={HIGHEST} />
        </tr>
      </thead>
      <tbody>
        {page.rows.map((row, index) => (
          <Row key={row.id} row={row} first={index === 0} model={model} />
        ))}
        {page.rows.length === 0 && (
          <tr class="rest">
            <td colSpan={8}>{noneWords()}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

const SINCE = "Since the recording's origin, as on the chart's axis";
const BEFORE = "Allocated on the device shown before its first event in the run";
const HIGHEST = "The most that was allocated on the device shown while it ran";

function noneWords(): string {
  const found = findModule.value === "" ? "" : " that is found";
  if (running.value) return `No module${found} runs at the cursor.`;
  return `No module${found} ran in the window.`;
}

interface RowProperties {
  row: ModuleRow;
  first: boolean;
  model: Model;
}

function Row({ row, first, model }: RowProperties) {
  const chosen = selection.value;
  const isChosen = chosen?.kind === "span" && chosen.id === row.id;
  return (
    <tr
      data-row
      data-id={row.id}
      aria-selected={isChosen}
      tabIndex={first ? 0 : -1}
      title={isChosen ? "Click to go back" : "Click to zoom to it and to have it explained"}
      onClick={() => open(model, itemOf(row, model.axis.peek(), model.whole.peek()))}
    >
      <td class="name" title={row.name}>
        <Clip>{row.name}</Clip>
      </td>
      <td class="number">{row.program}</td>
      <td title={row.on}>
        <Clip>{row.on}</Clip>
      </td>
      <Time value={row.begin} otherwise="before" />
      <Time value={row.end} otherwise="not ended" />
      <td class="number">{row.duration === null ? "" : duration(row.duration)}</td>
      <Bytes value={row.before} />
      <Bytes value={row.peak} />
    </tr>
  );
}

function Time({ value, otherwise }: { value: number | null; otherwise: string }) {
  return (
    <td class="number" title={value === null ? undefined : exactTime(value)}>
      {value === null ? otherwise : clockWords(value)}
    </td>
  );
}

function Bytes({ value }: { value: number | null }) {
  return (
    <td class="number" title={value === null ? undefined : exactBytes(value)}>
      {value === null ? "" : bytes(value)}
    </td>
  );
}
