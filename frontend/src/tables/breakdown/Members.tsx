/** The single allocations of an unfolded group, fetched a page at a time. */

import { useEffect, useRef, useState } from "preact/hooks";
import {
  type AllocationPage,
  type AllocationRow,
  type BreakdownGroup,
  type BreakdownQuery,
  getAllocations,
  wasAborted,
} from "../../api";
import { Clip } from "../../components/Clip";
import { ShareBar } from "../../components/ShareBar";
import { breakdownQuery } from "../../flow/questions";
import { bytes, counted, exactBytes, share } from "../../format";
import { momentWords } from "../../state/moment";
import { pointAt } from "../../state/pointed";
import { about, hasHistory } from "../../state/recording";
import { words } from "../../state/resource";
import { say } from "../../state/say";
import { selection } from "../../state/view";
import { birthWords, sizeIn } from "./model";

const PAGE = 50;

interface Properties {
  group: BreakdownGroup;
  total: number;
  colour: string;
}

interface Loaded {
  rows: AllocationRow[];
  count: number;
  error: string | null;
}

/** Columns of the table: of one moment nobody knows what is older. */
const columns = (): number => (hasHistory.value ? 6 : 5);

const NONE: Loaded = { rows: [], count: 0, error: null };

/** The question behind the table without what is about groups only. */
function question(): BreakdownQuery | null {
  const query = breakdownQuery.value;
  if (!query) return null;
  const { limit: _, ...rest } = query;
  return rest;
}

/** The allocations of a group at the cursor, and how to get the next page of them. */
function useMembers(key: string): { loaded: Loaded; more: () => void } {
  const [loaded, setLoaded] = useState(NONE);
  const controller = useRef(new AbortController());
  const query = question();

  const fetchFrom = (known: AllocationRow[]): void => {
    if (!query) return;
    controller.current.abort();
    controller.current = new AbortController();
    const page = { ...query, key, offset: known.length, limit: PAGE };
    getAllocations(page, controller.current.signal).then(
      ({ rows, total_count }: AllocationPage) =>
        setLoaded({ rows: [...known, ...rows], count: total_count, error: null }),
      (error: unknown) => {
        if (!wasAborted(error)) setLoaded({ rows: known, count: 0, error: words(error) });
      },
    );
  };

  // What is there stays until the members at the new moment have come: no flicker while moving.
  useEffect(() => {
    fetchFrom([]);
    return () => controller.current.abort();
  }, [JSON.stringify(query), key]);
  return { loaded, more: () => fetchFrom(loaded.rows) };
}

export function Members({ group, total, colour }: Properties) {
  const { loaded, more } = useMembers(group.key);
  const { rows, count, error } = loaded;
  const left = count - rows.length;
  if (rows.length === 0) return <Note text={error ?? "Counting …"} />;
  return (
    <>
      {rows.map((row) => (
        <Member key={row.id} row={row} total={total} colour={colour} />
      ))}
      {error && <Note text={error} />}
      {left > 0 && (
        <tr class="rest inner">
          <td colSpan={columns()}>
            {counted(left, `more ${say("allocation")}`)}{" "}
            <button type="button" class="link" onClick={more}>
              show more
            </button>
          </td>
        </tr>
      )}
    </>
  );
}

function Note({ text }: { text: string }) {
  return (
    <tr class="rest inner">
      <td colSpan={columns()}>{text}</td>
    </tr>
  );
}

function Member({ row, total, colour }: { row: AllocationRow; total: number; colour: string }) {
  const chosen = selection.value;
  const id = String(row.id);
  const size = sizeIn(about.value?.basis ?? "requested", row);
  const select = (): void => {
    selection.value = { kind: "allocation", id };
  };
  return (
    <tr
      data-row
      class="inner"
      aria-level={2}
      aria-selected={chosen?.kind === "allocation" && chosen.id === id}
      tabIndex={-1}
      onClick={select}
      onPointerEnter={() => pointAt(row)}
      onPointerLeave={() => pointAt(undefined)}
    >
      <td class="name">
        <span class="cell">
          <Clip title={row.label}>{row.label || row.address || `${say("allocation")} ${id}`}</Clip>
        </span>
      </td>
      <td class="number" title={exactBytes(size)}>
        {bytes(size)}
      </td>
      <td>
        <ShareBar part={size} whole={total} colour={colour} words={share(size, total)} />
      </td>
      <td />
      <td class="number quiet">{row.address && <code>{row.address}</code>}</td>
      {hasHistory.value && <td class="number">{birthWords(row, momentWords)}</td>}
    </tr>
  );
}
