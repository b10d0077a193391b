/** Where the module ran in the recording, and what else was alive on its device then. */

import { batch } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { getModules, type ModulesPage, type PlanOverview } from "../../api";
import { chooseAxis, chooseDevice } from "../../flow/choose";
import { bytes, counted, exactBytes } from "../../format";
import { sourceId, summary } from "../../state/recording";
import { resource } from "../../state/resource";
import { range } from "../../state/view";

interface Found {
  key: string;
  name: string;
  page: ModulesPage;
}

/** Devices that are looked at: of more, the first. */
const MOST = 8;

export function Runs({ plan }: { plan: PlanOverview }) {
  const asked = useMemo(() => resource(() => question(plan), load), [plan]);
  useEffect(() => asked.dispose, [asked]);
  const found = (asked.answer.value.data ?? []).filter(({ page }) => page.found > 0);
  return (
    <p class="plan-runs quiet">
      A plan is of one program: it knows nothing of what else is on the device.{" "}
      {alike(found).map((group) => (
        <Ran key={group[0]?.key} group={group} />
      ))}
    </p>
  );
}

/** Devices of which the same is to be said, together. */
function alike(found: readonly Found[]): Found[][] {
  const groups = new Map<string, Found[]>();
  for (const one of found) {
    const [first] = one.page.rows;
    const key = [one.page.found, first?.before, first?.peak].join();
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function Ran({ group }: { group: Found[] }) {
  const [page] = group.map((one) => one.page);
  const [first] = page?.rows ?? [];
  if (!page || !first) return null;
  return (
    <span>
      {"It ran "}
      {counted(page.found, "time")}
      {" on "}
      {group.map((one, at) => (
        <span key={one.key}>
          {at > 0 && (at === group.length - 1 ? " and " : ", ")}
          <Show one={one} />
        </span>
      ))}
      {group.length > 1 && " each"}
      {first.before !== null && (
        <>
          {"; "}
          <Exact value={first.before} /> were in use before the first one
        </>
      )}
      {first.peak !== null && (
        <>
          {", "}
          <Exact value={first.peak} /> at most while it ran
        </>
      )}
      {". "}
    </span>
  );
}

function Exact({ value }: { value: number }) {
  return <span title={exactBytes(value)}>{bytes(value)}</span>;
}

function Show({ one }: { one: Found }) {
  const show = (): void => {
    const [first] = one.page.rows;
    batch(() => {
      chooseDevice(one.key);
      chooseAxis("time");
      if (first && first.begin !== null && first.end !== null) {
        range.value = { begin: first.begin, end: Math.max(first.end, first.begin + 1) };
      }
    });
  };
  return (
    <button type="button" class="link" title="Show the first run in the Profile" onClick={show}>
      {one.name}
    </button>
  );
}

interface Question {
  source: string;
  version: string;
  program: string;
  devices: { key: string; name: string }[];
}

function question(plan: PlanOverview): Question | null {
  const [source, known] = [sourceId.value, summary.value];
  const devices = (known?.devices ?? []).filter(({ modules }) => modules > 0).slice(0, MOST);
  if (!source || !known || devices.length === 0) return null;
  const named = devices.map(({ key, name }) => ({ key, name }));
  return { source, version: known.version, program: plan.program, devices: named };
}

const load = ({ source, version, program, devices }: Question, abort: AbortSignal) =>
  Promise.all(
    devices.map(async ({ key, name }): Promise<Found> => {
      const page = await getModules(
        {
          source,
          version,
          device: key,
          axis: "event",
          begin: null,
          end: null,
          at: null,
          find: `/^${program}$/`,
          sort: "begin",
          offset: 0,
          limit: 1,
        },
        abort,
      );
      return { key, name, page };
    }),
  );
