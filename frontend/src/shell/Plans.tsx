/** The HLO modules of the recording: how much memory the compiler planned for each. */

import { signal } from "@preact/signals";
import type { PlanListed, Summary } from "../api";
import { Meter } from "../components/Meter";
import { chooseDevice } from "../flow/choose";
import { bytes, count, counted, exactBytes } from "../format";
import { summary } from "../state/recording";
import { deviceKey } from "../state/view";
import { drawer } from "./drawer";
import { listedPlans, matchingPlans, tellingId } from "./moduleList";
import { walk } from "./walk";

const MANY = 8;
/** More than anyone reads; the filter finds the others. */
const MOST = 100;
const search = signal("");

export function Plans() {
  const every = summary.value?.plans ?? [];
  const missing = summary.value?.unplanned;
  if (every.length === 0 && !missing?.count) return null;
  const modules = listedPlans(every);
  const many = modules.length > MANY;
  const found = many ? matchingPlans(modules, search.value) : modules;
  const shown = found.slice(0, MOST);
  const largest = Math.max(...modules.map(({ peak }) => peak), 1);
  const current = every.find(({ key }) => key === deviceKey.value);
  return (
    <nav aria-label="HLO modules">
      <h2 class="heading">
        HLO modules {modules.length > 0 && <span class="count">{count(modules.length)}</span>}
      </h2>
      {many && (
        <div class="item">
          <input
            class="field search"
            type="search"
            placeholder="Filter modules"
            aria-label="Filter modules"
            value={search.value}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
        </div>
      )}
      {many && shown.length === 0 && <p class="item quiet">No module is named so.</p>}
      <ul onKeyDown={walk}>
        {shown.map((one) => (
          <Row
            key={one.key}
            one={one}
            id={tellingId(one, modules)}
            largest={largest}
            isChosen={current?.module === one.module && current.program === one.program}
          />
        ))}
      </ul>
      {found.length > shown.length && (
        <p class="item quiet small">
          {counted(found.length - shown.length, "more module")}; the filter finds them
        </p>
      )}
      {missing && missing.count > 0 && <Unplanned of={missing} />}
    </nav>
  );
}

type Missing = NonNullable<Summary["unplanned"]>;

/** Modules that have no plan in a line, and unfolded which they are and why. */
function Unplanned({ of }: { of: Missing }) {
  const reasons = new Map<string, string[]>();
  for (const { module, why } of of.modules) reasons.set(why, [...(reasons.get(why) ?? []), module]);
  const untold = of.count - of.modules.length;
  return (
    <details class="item quiet small unplanned">
      <summary>{counted(of.count, "module")} without a plan</summary>
      {[...reasons].map(([why, modules]) => (
        <p key={why}>
          {modules.join(", ")}: {why}
        </p>
      ))}
      {untold > 0 && <p>And {counted(untold, "other")}.</p>}
    </details>
  );
}

interface RowProperties {
  one: PlanListed;
  id: string;
  largest: number;
  isChosen: boolean;
}

function Row({ one, id, largest, isChosen }: RowProperties) {
  const words = `Peak ${bytes(one.peak)} in ${one.space}, as the compiler planned it`;
  const choose = (): void => {
    chooseDevice(one.key);
    drawer.value = false;
  };
  return (
    <li>
      <button
        type="button"
        class="item device plan-device"
        aria-current={isChosen ? "true" : undefined}
        title={`${one.module}, program ${one.program}: ${words} (${exactBytes(one.peak)})`}
        onClick={choose}
      >
        <span class="module">
          <span class="clip">{one.module}</span>
          {id && <span class="quiet small">({id})</span>}
        </span>
        <Meter value={one.peak / largest} label={words} />
        <span class="number small quiet">{bytes(one.peak)}</span>
      </button>
    </li>
  );
}
