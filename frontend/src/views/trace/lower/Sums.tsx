/** Memory by span: of the window, of a selected area, or of everything; a click walks the calls. */

import { useSignal } from "@preact/signals";
import { getSums, type SumRow, type SumsPage } from "../../../api";
import { SearchField } from "../../../components/SearchField";
import { SortHeader } from "../../../components/SortHeader";
import { target } from "../../../flow/questions";
import { bytes, counted, exactBytes, kindWord } from "../../../format";
import { words } from "../../../state/resource";
import { area, findSum, sumsKind, sumsSort } from "../../../state/trace";
import { range } from "../../../state/view";
import { walk } from "../../../tables/breakdown/walk";
import { Section } from "../../../tables/lists/Section";
import { useList } from "../../../tables/lists/useList";
import { nextOf } from "../tools/finder";
import { COLUMNS } from "./columns";
import { Row } from "./Row";

/** The kind that is asked for, or the first of `kinds` where a recording has none of it. */
const kindOf = (kinds: readonly string[]): string =>
  kinds.includes(sumsKind.value) ? sumsKind.value : (kinds[0] ?? "");

/** `kinds` are those that spans of the recording have. */
export function Sums({ kinds }: { kinds: readonly string[] }) {
  const list = useList(() => {
    const { tracks = [], ...window } = area.value ?? {};
    return {
      kind: kindOf(kinds),
      find: findSum.value,
      sort: sumsSort.value,
      tracks: tracks.join(","),
      ...window,
    };
  }, getSums);
  return (
    <Section
      label="Memory by span"
      list={list}
      file="trace.sums.csv"
      isNarrowed={findSum.value !== ""}
      heading={(page) => <Heading page={page} />}
      tools={(error) => (
        <>
          <Kinds kinds={kinds} />
          <SearchField
            value={findSum}
            label="Find among the names"
            placeholder="Find a name"
            title="A part of the name"
            error={error}
          />
        </>
      )}
      all={(page) => page.found}
      table={(page) => <Table page={page} />}
    />
  );
}

function Heading({ page }: { page: SumsPage | null }) {
  const chosen = area.value;
  const where = chosen ? "the selected area" : range.value === null ? "everything" : "the window";
  return (
    <h2 class="at">
      Memory by span in {where}
      {page && (
        <span class="quiet" data-testid="trace-sums-total">
          {counted(page.total.calls, "call")} of {counted(page.total.names, "name")},{" "}
          <span title={exactBytes(page.total.allocated)}>
            {bytes(page.total.allocated)} allocated
          </span>
          , <span title={exactBytes(page.total.freed)}>{bytes(page.total.freed)} freed</span>
        </span>
      )}
      {chosen && (
        <button type="button" class="link" onClick={() => (area.value = null)}>
          deselect
        </button>
      )}
    </h2>
  );
}

function Kinds({ kinds }: { kinds: readonly string[] }) {
  return (
    <select
      class="field choice"
      aria-label="Kind of spans"
      value={kindOf(kinds)}
      onChange={(event) => (sumsKind.value = event.currentTarget.value)}
    >
      {kinds.map((kind) => (
        <option key={kind} value={kind}>
          {kindWord(kind)}
        </option>
      ))}
    </select>
  );
}

function Table({ page }: { page: SumsPage }) {
  /** Name of the row whose calls are walked, and which of how many it is at. */
  const walked = useSignal<{ name: string; place: number; count: number } | null>(null);
  const failure = useSignal<string | null>(null);
  const go = async ({ name, kind }: SumRow, way: "next" | "previous") => {
    const of = target.peek();
    if (of === null) return;
    try {
      const { place, count } = await nextOf({ ...of, find: name, kind, exactly: 1, way });
      walked.value = place === null ? null : { name, place, count };
      failure.value = null;
    } catch (error) {
      failure.value = words(error);
    }
  };
  return (
    <>
      {failure.value !== null && (
        <p class="danger" role="alert">
          {failure}
        </p>
      )}
      <table class="groups list" aria-label="Memory by span" onKeyDown={walk}>
        <thead>
          <tr>
            <SortHeader column="name" text="Name" isText sort={sumsSort} />
            {COLUMNS.map(({ column, text, title }) => (
              <SortHeader key={column} column={column} text={text} title={title} sort={sumsSort} />
            ))}
            <th scope="col" class="number" title="Bytes allocated in a step: least, median, most">
              Per step
            </th>
          </tr>
        </thead>
        <tbody>
          {page.rows.map((row, at) => (
            <Row
              key={row.name}
              row={row}
              isFirst={at === 0}
              walked={walked.value?.name === row.name ? walked.value : null}
              go={(way) => void go(row, way)}
            />
          ))}
          {page.rows.length === 0 && (
            <tr class="rest">
              <td colSpan={COLUMNS.length + 2}>
                {findSum.value
                  ? "Nothing of that name begins here."
                  : `No ${kindWord(page.kind)} begins here.`}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </>
  );
}
