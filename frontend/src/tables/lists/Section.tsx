/** What every list of the window is: head and tools, notes, its rows, the way to more of them. */

import type { ComponentChildren } from "preact";
import { type ListFile, type ListQuery, listFile } from "../../api";
import { Listed, Pager } from "./Parts";
import type { List } from "./useList";

interface Page {
  readonly offset: number;
  readonly rows: readonly unknown[];
  readonly notes?: readonly string[];
}

interface Properties<Query extends ListQuery, Of extends Page> {
  label: string;
  list: List<Query, Of>;
  file: ListFile;
  /** Whether a field narrows it: that field then says what is wrong. */
  isNarrowed: boolean;
  heading: (page: Of | null) => ComponentChildren;
  /** The fields and switches beside the heading, told what is wrong with what they say. */
  tools: (error: string | null) => ComponentChildren;
  above?: ComponentChildren;
  /** How many rows there are on all pages. */
  all: (page: Of) => number;
  table: (page: Of) => ComponentChildren;
}

export function Section<Query extends ListQuery, Of extends Page>(of: Properties<Query, Of>) {
  const { data, error, loading } = of.list.answer.value;
  const query = of.list.query.value;
  return (
    <section class="breakdown" aria-label={of.label}>
      <div class="tools">
        {of.heading(data)}
        <span class="right">
          {of.tools(of.isNarrowed ? error : null)}
          {query && (
            <a
              class="button"
              href={listFile(of.file, query)}
              download
              title="Download the whole list"
            >
              ⤓ CSV
            </a>
          )}
        </span>
      </div>
      {of.above}
      {data?.notes?.map((note) => (
        <p class="quiet small" role="note" key={note}>
          {note}
        </p>
      ))}
      <Listed error={of.isNarrowed ? null : error} loading={loading} has={data !== null}>
        {data && of.table(data)}
      </Listed>
      {data && (
        <Pager
          offset={data.offset}
          shown={data.rows.length}
          all={of.all(data)}
          turn={of.list.turn}
        />
      )}
    </section>
  );
}
