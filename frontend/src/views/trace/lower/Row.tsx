/** A row of memory by span: its numbers, and which of its calls is shown. */

import type { SumRow } from "../../../api";
import {
  bytes,
  count,
  counted,
  duration,
  exactBytes,
  grouped,
  shortName,
  signedBytes,
} from "../../../format";
import { COLUMNS, type Column } from "./columns";

interface RowProps {
  row: SumRow;
  isFirst: boolean;
  walked: { readonly place: number; readonly count: number } | null;
  go: (way: "next" | "previous") => void;
}

export function Row({ row, isFirst, walked, go }: RowProps) {
  return (
    <tr
      data-row
      aria-selected={walked !== null}
      tabIndex={isFirst ? 0 : -1}
      title="Click to go from call to call"
      onClick={() => go("next")}
    >
      <td class="name" title={row.name}>
        <span class="clip">{shortName(row.name)}</span>
        {walked && (
          <span class="trace-walk" role="status">
            <button
              type="button"
              class="plain"
              aria-label="Previous call"
              onClick={(event) => {
                event.stopPropagation();
                go("previous");
              }}
            >
              ‹
            </button>
            {grouped(walked.place + 1)} of {grouped(walked.count)}
            <button
              type="button"
              class="plain"
              aria-label="Next call"
              onClick={(event) => {
                event.stopPropagation();
                go("next");
              }}
            >
              ›
            </button>
          </span>
        )}
      </td>
      {COLUMNS.map(({ column, of }) => (
        <Cell key={column} value={row[column]} of={of} />
      ))}
      <Spread steps={row.steps} />
    </tr>
  );
}

function Cell({ value, of }: { value: number; of: Column["of"] }) {
  if (of === "count") return <td class="number">{count(value)}</td>;
  if (of === "time") return <td class="number">{duration(value)}</td>;
  const words = value === 0 ? "0" : of === "change" ? signedBytes(value) : bytes(value);
  return (
    <td class="number" title={exactBytes(value)}>
      {words}
    </td>
  );
}

/** Bytes allocated per step; steps that are all alike need one number. */
function Spread({ steps }: { steps: SumRow["steps"] }) {
  if (steps === null) return <td />;
  const { least, median, most } = steps;
  const title = `${counted(steps.count, "step")}: ${exactBytes(least)} to ${exactBytes(most)}, median ${exactBytes(median)}`;
  return (
    <td class="number" title={title}>
      {least === most ? bytes(median) : `${bytes(least)} – ${bytes(most)}`}
    </td>
  );
}
