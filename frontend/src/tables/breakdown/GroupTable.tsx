/** The table of groups: sorted by any column, walked with the arrow keys, unfolded in place. */

import { useEffect } from "preact/hooks";
import { SortHeader } from "../../components/SortHeader";
import { breakdown, breakdownQuery, FIRST_GROUPS, groupLimit } from "../../flow/questions";
import { bytes, count, counted, exactBytes } from "../../format";
import { about, hasHistory, lost } from "../../state/recording";
import { say } from "../../state/say";
import { by, filter, sort } from "../../state/view";
import { GroupRow } from "./GroupRow";
import { unfolded } from "./unfolded";
import { walk } from "./walk";

/** What keeps groups comparable; where it changes, unfolded groups and extra rows are forgotten. */
const context = (): string => {
  const query = breakdownQuery.value;
  return query ? JSON.stringify([query.source, query.device, query.by, query.pattern]) : "";
};

const HEADERS: readonly (readonly [string, string])[] = [
  ["count", "Blocks"],
  ["largest", "Largest"],
  ["oldest", "Oldest"],
];

export function GroupTable() {
  const { data, error, loading } = breakdown.value;
  const now = context();
  useEffect(() => {
    unfolded.value = new Set();
    groupLimit.value = FIRST_GROUPS;
  }, [now]);
  // Rows of an earlier question must not stand under the head of this one.
  if (!data || (error && lost.value)) return <Waiting error={error} loading={loading} />;
  return (
    <div class="scroller" aria-busy={loading}>
      {error && !filter.value && (
        <p class="danger" role="alert">
          {error}
        </p>
      )}
      <table class="groups" role="treegrid" aria-label="What memory is made of" onKeyDown={walk}>
        <thead>
          <tr>
            <SortHeader column="label" text={groupingLabel()} isText sort={sort} />
            <SortHeader column="bytes" text="Bytes" sort={sort} />
            <th scope="col">Share</th>
            {HEADERS.map(
              ([column, text]) =>
                // Of one moment nobody knows what is older.
                (column !== "oldest" || hasHistory.value) && (
                  <SortHeader
                    key={column}
                    column={column}
                    text={say(text)}
                    rises={column === "oldest"}
                    sort={sort}
                  />
                ),
            )}
          </tr>
        </thead>
        <tbody>
          {data.groups.map((group, index) => (
            <GroupRow
              key={group.key}
              group={group}
              total={data.total_bytes}
              first={index === 0}
              open={unfolded.value.has(group.key)}
            />
          ))}
          <Rest />
        </tbody>
      </table>
      {data.groups.length === 0 && <Nothing />}
    </div>
  );
}

const groupingLabel = (): string => {
  const known = about.value?.groupings.find(({ key }) => key === by.value);
  const label = known?.label ?? by.value;
  return label.charAt(0).toUpperCase() + label.slice(1);
};

function Rest() {
  const rest = breakdown.value.data?.rest;
  if (!rest || rest.groups === 0) return null;
  return (
    <tr class="rest">
      <td>
        {counted(rest.groups, "more group")}{" "}
        <button type="button" class="link" onClick={() => (groupLimit.value *= 4)}>
          show more
        </button>
      </td>
      <td class="number" title={exactBytes(rest.bytes)}>
        {bytes(rest.bytes)}
      </td>
      <td />
      <td class="number">{count(rest.count)}</td>
      <td colSpan={hasHistory.value ? 2 : 1} />
    </tr>
  );
}

function Nothing() {
  if (!filter.value) return <p class="nothing quiet">Nothing is alive at this moment.</p>;
  return (
    <p class="nothing quiet">
      Nothing that is alive at this moment passes the filter.{" "}
      <button type="button" class="link" onClick={() => (filter.value = "")}>
        Clear the filter
      </button>
    </p>
  );
}

function Waiting({ error, loading }: { error: string | null; loading: boolean }) {
  if (error) {
    return (
      <p class="nothing danger" role="alert">
        {error}
      </p>
    );
  }
  return (
    <p class="nothing quiet" aria-busy={loading}>
      Counting …
    </p>
  );
}
