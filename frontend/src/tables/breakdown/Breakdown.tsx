/** What memory is made of at the cursor: groups, down to single allocations. */

import { useLayoutEffect } from "preact/hooks";
import { exportAddress } from "../../api";
import { chooseGrouping } from "../../flow/choose";
import { breakdown, breakdownQuery, tables } from "../../flow/questions";
import { bytes, exactBytes } from "../../format";
import { blocksWords } from "../../state/groups";
import { momentWords } from "../../state/moment";
import { about, hasHistory } from "../../state/recording";
import { say } from "../../state/say";
import { by, cursor } from "../../state/view";
import "../../components/tables.css";
import { Filter } from "../../components/Filter";
import { GroupTable } from "./GroupTable";

export function Breakdown() {
  useLayoutEffect(() => {
    tables.value++;
    return () => {
      tables.value--;
    };
  }, []);
  return (
    <section class="breakdown" aria-label="Breakdown">
      <div class="tools">
        <Heading />
        <span class="right">
          <Filter />
          <Export />
        </span>
      </div>
      <Groupings />
      <GroupTable />
    </section>
  );
}

function Heading() {
  const { data } = breakdown.value;
  return (
    <h2 class="at">
      {title()}
      {data && (
        <span class="quiet" title={exactBytes(data.total_bytes)}>
          {bytes(data.total_bytes)} in {blocksWords(data.total_count, data.sums)}
        </span>
      )}
      {cursor.value !== null && hasHistory.value && (
        <button type="button" class="link" onClick={() => (cursor.value = null)}>
          back to the peak
        </button>
      )}
    </h2>
  );
}

function title(): string {
  const { data } = breakdown.value;
  if (!hasHistory.value) return say("Alive at the end");
  if (cursor.value === null) return "Alive at the peak";
  if (data?.event !== cursor.value) return `Alive after event\u00a0${cursor.value}`;
  return `Alive at ${momentWords(data)}`;
}

function Groupings() {
  return (
    <div class="groupings" role="group" aria-label="Group by">
      {about.value?.groupings.map(({ key, label }) => (
        <button
          key={key}
          type="button"
          class="chip"
          aria-pressed={key === by.value}
          onClick={() => chooseGrouping(key)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** The browser downloads it: the whole table, however much of it is shown. */
function Export() {
  const query = breakdownQuery.value;
  if (!query) return null;
  const { limit: _, ...whole } = query;
  return (
    <a class="button" href={exportAddress(whole)} download title="Download the whole table">
      ⤓ CSV
    </a>
  );
}
