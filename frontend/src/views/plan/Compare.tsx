/** This plan beside another one at their peaks: what grew. */

import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Compared, type CompareQuery, getCompared } from "../../api";
import { Clip } from "../../components/Clip";
import { Segmented } from "../../components/Segmented";
import { target } from "../../flow/questions";
import { bytes, count, exactBytes } from "../../format";
import { resource } from "../../state/resource";
import { Other, other } from "./Other";

const BYS = [
  { key: "op", label: "framework op", reason: null },
  { key: "name", label: "instruction", reason: null },
  { key: "kind", label: "kind", reason: null },
  { key: "category", label: "category", reason: null },
  { key: "shape", label: "shape", reason: null },
] as const;

const by = signal<(typeof BYS)[number]["key"]>("op");
const FIRST = 50;
const shown = signal(FIRST);

export function Compare() {
  const asked = useMemo(
    () =>
      resource<CompareQuery, Compared>(() => {
        const [mine, theirs] = [target.value, other.value];
        return mine && theirs
          ? {
              ...mine,
              other_source: theirs.source,
              other_version: theirs.version,
              other_device: theirs.device,
              by: by.value,
            }
          : null;
      }, getCompared),
    [],
  );
  useEffect(() => asked.dispose, [asked]);
  const { data, error } = asked.answer.value;
  return (
    <section class="plan-compare" aria-label="Compare">
      <div class="plan-tools">
        <Other />
        <Segmented
          label="Compare by"
          value={by.value}
          options={BYS}
          choose={(key) => (by.value = key)}
        />
      </div>
      {error !== null && <p class="danger">{error}</p>}
      {data && other.value ? (
        <Rows data={data} />
      ) : (
        other.value === null && <p class="quiet">Choose what to compare with.</p>
      )}
    </section>
  );
}

function Rows({ data }: { data: Compared }) {
  const [rows, others] = [data.rows.slice(0, shown.value), data.left_out];
  return (
    <>
      <div class="scroller">
        <table class="groups list" aria-label="Plans side by side">
          <thead>
            <tr>
              <th>
                <span class="plain">{BYS.find(({ key }) => key === data.by)?.label}</span>
              </th>
              <th class="number">
                <span class="plain">This plan</span>
              </th>
              <th class="number">
                <span class="plain">Buffers</span>
              </th>
              <th class="number">
                <span class="plain">The other</span>
              </th>
              <th class="number">
                <span class="plain">Buffers</span>
              </th>
              <th class="number">
                <span class="plain">Difference</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <Row row={{ ...data, label: "all" }} />
            {rows.map((row) => (
              <Row key={row.label} row={row} />
            ))}
            {rows.length === data.rows.length && others.labels > 0 && (
              <Row row={{ ...others, label: `${count(others.labels)} others` }} />
            )}
          </tbody>
        </table>
      </div>
      {data.rows.length > rows.length && (
        <button type="button" class="link" onClick={() => (shown.value += FIRST * 4)}>
          {count(data.rows.length + others.labels - rows.length)} more
        </button>
      )}
    </>
  );
}

function Row({ row }: { row: Compared["rows"][number] }) {
  const difference = row.bytes - row.other_bytes;
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
  return (
    <tr data-label={row.label}>
      <td class="name">
        <Clip title={row.label}>{row.label}</Clip>
      </td>
      <td class="number" title={exactBytes(row.bytes)}>
        {bytes(row.bytes)}
      </td>
      <td class="number">{count(row.count)}</td>
      <td class="number" title={exactBytes(row.other_bytes)}>
        {bytes(row.other_bytes)}
      </td>
      <td class="number">{count(row.other_count)}</td>
      <td
        class={`number ${difference > 0 ? "danger" : ""}`}
        title={`${sign}${exactBytes(Math.abs(difference))}`}
      >
        {sign}
        {bytes(Math.abs(difference))}
      </td>
    </tr>
  );
}
