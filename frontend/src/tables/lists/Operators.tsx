/** What operators did to memory in the window shown; a click narrows the page to one. */

import { getOperators, type OperatorRow, type OperatorsPage } from "../../api";
import { Clip } from "../../components/Clip";
import { Filtered } from "../../components/Filtered";
import { SearchField } from "../../components/SearchField";
import { SortHeader } from "../../components/SortHeader";
import { bytes, count, counted, exactBytes, signedBytes } from "../../format";
import { filter, findOperator, operatorsSort, range } from "../../state/view";
import { walk } from "../breakdown/walk";
import { changeWords, operatorFilter } from "./model";
import { Section } from "./Section";
import { useList } from "./useList";

export function Operators() {
  const list = useList(
    () => ({ find: findOperator.value, sort: operatorsSort.value }),
    getOperators,
  );
  return (
    <Section
      label="Operators of the window"
      list={list}
      file="operators.csv"
      isNarrowed={findOperator.value !== ""}
      heading={(page) => <Heading page={page} />}
      tools={(error) => (
        <SearchField
          value={findOperator}
          label="Find an operator"
          placeholder="Find an operator"
          title="A word in its name, or /a regular expression/"
          error={error}
        />
      )}
      above={<Filtered />}
      all={(page) => page.found}
      table={(page) => <Table page={page} />}
    />
  );
}

function Heading({ page }: { page: OperatorsPage | null }) {
  return (
    <h2 class="at">
      {range.value === null ? "Operators" : "Operators in the window"}
      {page && (
        <span class="quiet">
          {counted(page.total.operators, "operator")},{" "}
          <span title={`${exactBytes(page.before)} before, ${exactBytes(page.after)} after`}>
            {bytes(page.before)} before, {signedBytes(page.after - page.before)}
          </span>
        </span>
      )}
    </h2>
  );
}

interface Column {
  column: keyof OperatorRow & string;
  text: string;
  title: string;
  of: "count" | "bytes" | "change";
}

/** The numbers that are known, what an operator did itself before what was done in it. */
function columnsOf(page: OperatorsPage): Column[] {
  const freed = page.freed_where ? "freed in it" : "freed of what it made";
  const all: Column[] = [
    {
      column: "calls",
      text: "Calls",
      title: "How often it began in the window, on any thread",
      of: "count",
    },
    {
      column: "self_increase",
      text: "Self increase",
      title: `Bytes that it allocated itself, less those ${freed}`,
      of: "change",
    },
    {
      column: "increase",
      text: "Increase",
      title: "The same, operators inside it included",
      of: "change",
    },
    {
      column: "self_bytes",
      text: "Self bytes",
      title: "Bytes that it allocated itself, freed or not",
      of: "bytes",
    },
    {
      column: "bytes",
      text: "Bytes",
      title: "The same, operators inside it included",
      of: "bytes",
    },
    {
      column: "self_count",
      text: "Self count",
      title: "Allocations that it made itself",
      of: "count",
    },
    {
      column: "count",
      text: "Count",
      title: "The same, operators inside it included",
      of: "count",
    },
    {
      column: "peak",
      text: "Peak",
      title: "The most bytes of its own that were alive at once",
      of: "bytes",
    },
  ];
  return all.filter(({ column }) => page.rows.some((row) => row[column] !== null));
}

function Table({ page }: { page: OperatorsPage }) {
  const columns = columnsOf(page);
  return (
    <table class="groups list" aria-label="Operators" onKeyDown={walk}>
      <thead>
        <tr>
          <SortHeader column="label" text="Operator" isText sort={operatorsSort} />
          {columns.map(({ column, text, title }) => (
            <SortHeader
              key={column}
              column={column}
              text={text}
              title={title}
              sort={operatorsSort}
            />
          ))}
        </tr>
      </thead>
      <tbody>
        {page.rows.map((row, index) => (
          <Row key={row.label} row={row} first={index === 0} columns={columns} />
        ))}
        {page.rows.length === 0 && (
          <tr class="rest">
            <td colSpan={9}>
              {findOperator.value
                ? "No operator of that name allocated or freed anything here."
                : "Nothing was allocated or freed here."}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

interface RowProperties {
  row: OperatorRow;
  first: boolean;
  columns: readonly Column[];
}

function Row({ row, first, columns }: RowProperties) {
  const own = operatorFilter(row.op);
  const isChosen = filter.value === own;
  const toggle = () => {
    filter.value = isChosen ? "" : own;
  };
  return (
    <tr
      data-row
      aria-selected={isChosen}
      tabIndex={first ? 0 : -1}
      title={isChosen ? "Click to take the filter away" : "Click to see nothing else, in all views"}
      onClick={toggle}
    >
      <td class="name" title={row.label}>
        <Clip quiet={row.op === null}>{row.label}</Clip>
      </td>
      {columns.map(({ column, of }) => (
        <Cell key={column} value={row[column] as number | null} of={of} />
      ))}
    </tr>
  );
}

function Cell({ value, of }: { value: number | null; of: Column["of"] }) {
  if (value === null) return <td />;
  if (of === "count") return <td class="number">{count(value)}</td>;
  return (
    <td class="number" title={exactBytes(value)}>
      {of === "change" ? changeWords(value) : bytes(value)}
    </td>
  );
}
