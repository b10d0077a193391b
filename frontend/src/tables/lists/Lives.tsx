/** Every allocation of the window shown, whatever became of it, or what is alive at the cursor. */

import { useEffect } from "preact/hooks";
import { getLives, type LifeRow, type LivesPage } from "../../api";
import { Clip } from "../../components/Clip";
import { Filter } from "../../components/Filter";
import { SortHeader } from "../../components/SortHeader";
import { bytes, counted, exactBytes } from "../../format";
import { SUM_ONLY } from "../../state/groups";
import { pointedLife, pointing } from "../../state/pointed";
import { say } from "../../state/say";
import {
  aliveOnly,
  cursor,
  filter,
  least,
  livesSort,
  most,
  range,
  selection,
} from "../../state/view";
import { walk } from "../breakdown/walk";
import { type Column, livesColumns } from "./livesColumns";
import { ToCursor } from "./Parts";
import { Section } from "./Section";
import { Sizes } from "./Sizes";
import { useList } from "./useList";

export function Lives() {
  const list = useList(
    () => ({
      filter: filter.value,
      minimum: least.value,
      maximum: most.value,
      sort: livesSort.value,
      at: aliveOnly.value ? (cursor.value ?? ("peak" as const)) : null,
    }),
    getLives,
  );
  useEffect(() => () => (pointedLife.value = null), []);
  return (
    <Section
      label={`List of ${say("allocations")}`}
      list={list}
      file="lives.csv"
      isNarrowed={filter.value !== ""}
      heading={(page) => <Heading page={page} />}
      tools={(error) => (
        <>
          <ToCursor
            on={aliveOnly}
            title="Only what is alive at the moment that the cursor is on, whatever the window"
          />
          <Sizes />
          <Filter error={error} />
        </>
      )}
      all={(page) => page.total_count}
      table={(page) => <Table page={page} />}
    />
  );
}

function Heading({ page }: { page: LivesPage | null }) {
  return (
    <h2 class="at">
      {headWords()}
      {page && (
        <span class="quiet" data-testid="lives-total">
          <span title={page.sums > 0 ? SUM_ONLY : undefined}>
            {counted(page.total_count - page.sums, say("allocation"))}
            {page.sums > 0 && " and a sum"}
          </span>
          ,{" "}
          <span title={exactBytes(page.total_bytes)} data-bytes={page.total_bytes}>
            {bytes(page.total_bytes)}
          </span>{" "}
          in all
        </span>
      )}
    </h2>
  );
}

function headWords(): string {
  if (aliveOnly.value) return `${say("Allocations")} at the cursor`;
  return range.value === null ? `All ${say("allocations")}` : `${say("Allocations")} of the window`;
}

function Table({ page }: { page: LivesPage }) {
  const columns = livesColumns(page);
  return (
    <table class="groups list" aria-label={say("Allocations")} onKeyDown={walk}>
      <thead>
        <tr>
          {columns.map(({ column, text, isText }) =>
            column ? (
              <SortHeader
                key={text}
                column={column}
                text={text}
                isText={isText ?? false}
                sort={livesSort}
              />
            ) : (
              <th key={text} scope="col">
                {text}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody {...pointing(page.rows)}>
        {page.rows.map((row, index) => (
          <Row key={row.id} row={row} columns={columns} first={index === 0} />
        ))}
        {page.rows.length === 0 && (
          <tr class="rest">
            <td colSpan={columns.length}>{noneWords()}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function noneWords(): string {
  const when = aliveOnly.value ? "at the cursor" : "in the window";
  const isNarrowed = filter.value !== "" || least.value !== null || most.value !== null;
  if (isNarrowed) return `Nothing alive ${when} passes the filter and is of that size.`;
  return aliveOnly.value ? "Nothing is alive at the cursor." : "Nothing was alive in the window.";
}

interface RowProperties {
  row: LifeRow;
  columns: readonly Column[];
  first: boolean;
}

function Row({ row, columns, first }: RowProperties) {
  const id = String(row.id);
  const chosen = selection.value;
  const select = () => {
    selection.value = { kind: "allocation", id };
  };
  return (
    <tr
      data-row
      data-id={id}
      aria-selected={chosen?.kind === "allocation" && chosen.id === id}
      tabIndex={first ? 0 : -1}
      onClick={select}
    >
      {columns.map((column) => (
        <Cell key={column.text} row={row} of={column} />
      ))}
    </tr>
  );
}

function Cell({ row, of }: { row: LifeRow; of: Column }) {
  const value = of.of(row);
  const title = of.title?.(row) ?? (of.isText ? value : undefined);
  if (!of.isText) {
    return (
      <td class="number" title={title}>
        {value}
      </td>
    );
  }
  return (
    <td class={of.column === "label" ? "name" : undefined} title={title}>
      {of.isShort ? <span class="clip">{value}</span> : <Clip>{value}</Clip>}
    </td>
  );
}
