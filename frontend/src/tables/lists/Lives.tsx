/** Every allocation of the window shown, whatever became of it, or what is alive at the cursor. */

import { getLives, type LifeRow, type LivesPage, listFile } from "../../api";
import { Clip } from "../../components/Clip";
import { Filter } from "../../components/Filter";
import { SortHeader } from "../../components/SortHeader";
import { bytes, count, counted, exactBytes } from "../../format";
import { SUM_ONLY } from "../../state/groups";
import { about } from "../../state/recording";
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
import { birthWords, deathWords, formWords, lifeWords } from "./model";
import { Listed, Pager, ToCursor } from "./Parts";
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
  const { data, error, loading } = list.answer.value;
  const query = list.query.value;
  return (
    <section class="breakdown" aria-label="List of allocations">
      <div class="tools">
        <Heading page={data} />
        <span class="right">
          <ToCursor
            on={aliveOnly}
            title="Only what is alive at the moment that the cursor is on, whatever the window"
          />
          <Sizes />
          <Filter error={error} />
          {query && (
            <a
              class="button"
              href={listFile("lives.csv", query)}
              download
              title="Download the whole list"
            >
              ⤓ CSV
            </a>
          )}
        </span>
      </div>
      <Listed error={filter.value ? null : error} loading={loading} has={data !== null}>
        {data && <Table page={data} />}
      </Listed>
      {data && (
        <Pager
          offset={data.offset}
          shown={data.rows.length}
          all={data.total_count}
          turn={list.turn}
        />
      )}
    </section>
  );
}

function Heading({ page }: { page: LivesPage | null }) {
  return (
    <h2 class="at">
      {headWords()}
      {page && (
        <span class="quiet" data-testid="lives-total">
          <span title={page.sums > 0 ? SUM_ONLY : undefined}>
            {counted(page.total_count - page.sums, "allocation")}
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
  if (aliveOnly.value) return "Allocations at the cursor";
  return range.value === null ? "All allocations" : "Allocations of the window";
}

/** Columns that a recording has something to say in, by the grouping that says so. */
interface Extra {
  grouping: string;
  column: string;
  text: string;
  of: (row: LifeRow) => string;
}

const EXTRAS: readonly Extra[] = [
  { grouping: "category", column: "category", text: "Category", of: (row) => row.category ?? "" },
  { grouping: "dtype_shape", column: "shape", text: "Type, shape", of: formWords },
  { grouping: "region", column: "region", text: "Region", of: (row) => row.region ?? "" },
  { grouping: "module", column: "module", text: "Module", of: (row) => row.module ?? "" },
  {
    grouping: "step",
    column: "step",
    text: "Step",
    of: (row) => (row.step === null ? "" : count(row.step)),
  },
];

const tells = (grouping: string): boolean =>
  about.value?.groupings.some(({ key }) => key === grouping) === true;

/** Where there are no stacks, allocations are called by their operator already. */
const hasOperators = (): boolean =>
  tells("op") && about.value?.missing.every(({ what }) => what !== "stacks") === true;

function Table({ page }: { page: LivesPage }) {
  const extras = EXTRAS.filter(({ grouping }) => tells(grouping));
  const isRounded = about.value?.basis === "size";
  const hasOther = page.rows.some((row) => (isRounded ? row.requested : row.size) !== null);
  return (
    <table class="groups list" aria-label="Allocations" onKeyDown={walk}>
      <thead>
        <tr>
          <SortHeader column="label" text="Allocation" isText sort={livesSort} />
          {hasOperators() && <SortHeader column="op" text="Operator" isText sort={livesSort} />}
          <SortHeader column="bytes" text={isRounded ? "Size" : "Requested"} sort={livesSort} />
          {hasOther && (
            <SortHeader
              column={isRounded ? "requested" : "size"}
              text={isRounded ? "Requested" : "Block"}
              sort={livesSort}
            />
          )}
          <SortHeader column="birth" text="Allocated" sort={livesSort} />
          <SortHeader column="death" text="Released" sort={livesSort} />
          <SortHeader column="duration" text="Lived" sort={livesSort} />
          {extras.map(({ column, text }) => (
            <SortHeader key={column} column={column} text={text} isText sort={livesSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {page.rows.map((row, index) => (
          <Row
            key={row.id}
            row={row}
            extras={extras}
            first={index === 0}
            isRounded={isRounded}
            hasOther={hasOther}
          />
        ))}
        {page.rows.length === 0 && (
          <tr class="rest">
            <td colSpan={7 + extras.length}>{noneWords()}</td>
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
  extras: readonly Extra[];
  first: boolean;
  isRounded: boolean;
  hasOther: boolean;
}

function Row({ row, extras, first, isRounded, hasOther }: RowProperties) {
  const id = String(row.id);
  const chosen = selection.value;
  const both = isRounded ? [row.size, row.requested] : [row.requested, row.size];
  const sizes = hasOther ? both : both.slice(0, 1);
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
      <td class="name" title={row.sum ? SUM_ONLY : row.label}>
        <Clip>{row.sum ? `${row.label} (sum only)` : row.label}</Clip>
      </td>
      {hasOperators() && (
        <td title={row.op ?? ""}>
          <Clip>{row.op ?? ""}</Clip>
        </td>
      )}
      {sizes.map((size, place) => (
        <td key={place} class="number" title={size === null ? undefined : exactBytes(size)}>
          {size === null ? "" : bytes(size)}
        </td>
      ))}
      <td class="number">{birthWords(row)}</td>
      <td class="number">{deathWords(row)}</td>
      <td class="number">{lifeWords(row)}</td>
      {extras.map(({ column, of }) => (
        <td key={column} title={of(row)}>
          <span class="clip">{of(row)}</span>
        </td>
      ))}
    </tr>
  );
}
