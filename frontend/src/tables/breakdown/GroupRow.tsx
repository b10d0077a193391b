/** One group of the breakdown, and under it, when unfolded, its allocations. */

import type { BreakdownGroup } from "../../api";
import { Clip } from "../../components/Clip";
import { ShareBar } from "../../components/ShareBar";
import { groupOfSelected } from "../../flow/questions";
import { bytes, count, exactBytes, share } from "../../format";
import { groupLabel, oldestWords, SUM_ONLY } from "../../state/groups";
import { momentWords } from "../../state/moment";
import { hasHistory } from "../../state/recording";
import { say } from "../../state/say";
import { by, selection } from "../../state/view";
import { colours } from "../../theme/theme";
import { Members } from "./Members";
import { toggle } from "./unfolded";

interface Properties {
  group: BreakdownGroup;
  total: number;
  first: boolean;
  open: boolean;
}

export function GroupRow({ group, total, first, open }: Properties) {
  const chosen = selection.value;
  const selected = chosen?.kind === "group" && chosen.by === by.value && chosen.key === group.key;
  const holds = groupOfSelected.value === group.key;
  const colour = colours.value.of(group);
  const label = groupLabel(group.label, by.value);
  const select = (): void => {
    selection.value = { kind: "group", by: by.value, key: group.key };
  };
  return (
    <>
      <tr
        data-row
        class={holds ? "holds" : undefined}
        aria-level={1}
        aria-expanded={open}
        aria-selected={selected}
        tabIndex={first ? 0 : -1}
        onClick={select}
      >
        <td class="name">
          <span class="cell">
            <button
              type="button"
              class="plain fold"
              data-fold
              tabIndex={-1}
              aria-label={open ? `Fold ${label}` : `Unfold ${label}`}
              onClick={(event) => {
                event.stopPropagation();
                toggle(group.key);
              }}
            >
              {open ? "▾" : "▸"}
            </button>
            <Clip title={group.label}>{label}</Clip>
            {holds && <span class="unseen">, has the selected {say("allocation")}</span>}
          </span>
        </td>
        <td class="number" title={exactBytes(group.bytes)}>
          {bytes(group.bytes)}
        </td>
        <td>
          <ShareBar
            part={group.bytes}
            whole={total}
            colour={colour}
            words={share(group.bytes, total)}
          />
        </td>
        <Blocks group={group} />
        <td class="number" title={exactBytes(group.largest)}>
          {bytes(group.largest)}
        </td>
        {hasHistory.value && <td class="number">{oldestWords(group, momentWords)}</td>}
      </tr>
      {open && <Members group={group} total={total} colour={colour} />}
    </>
  );
}

/** How many allocations the group is, where that is known. */
function Blocks({ group }: { group: BreakdownGroup }) {
  if (group.sums === 0) return <td class="number">{count(group.count)}</td>;
  const known = group.count - group.sums;
  return (
    <td class="number quiet" title={SUM_ONLY}>
      {known > 0 ? `${count(known)} + sum` : "sum only"}
    </td>
  );
}
