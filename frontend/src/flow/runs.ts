/** Where the module of the plan that is looked at ran in the recording, and going there. */

import { batch, computed } from "@preact/signals";
import { getModules, type ModulesPage, type PlanBuffer } from "../api";
import { shownPlan, sourceId, summary } from "../state/recording";
import { resource } from "../state/resource";
import { range, selection, viewKey } from "../state/view";
import { chooseAxis, chooseDevice } from "./choose";

/** Runs on one device: the page has the first, and how many there are. */
export interface Ran {
  readonly key: string;
  readonly name: string;
  readonly page: ModulesPage;
}

/** Devices that are looked at: of more, the first. */
const MOST = 8;

interface Question {
  readonly source: string;
  readonly version: string;
  readonly program: string;
  readonly devices: readonly { readonly key: string; readonly name: string }[];
}

const asked = resource<Question, { program: string; ran: Ran[] }>(() => {
  const [source, known, plan] = [sourceId.value, summary.value, shownPlan.value];
  const devices = (known?.devices ?? []).filter(({ modules }) => modules > 0).slice(0, MOST);
  if (!source || !known || !plan || devices.length === 0) return null;
  const named = devices.map(({ key, name }) => ({ key, name }));
  return { source, version: known.version, program: plan.overview.program, devices: named };
}, load).answer;

/** Devices that it ran on; none too where the recording does not say. */
export const runs = computed<readonly Ran[]>(() => {
  const found = asked.value.data;
  return found !== null && found.program === shownPlan.value?.overview.program ? found.ran : [];
});

/** The same without allocators that only stand beside: their runs are those of another. */
export const distinctRuns = computed<readonly Ran[]>(() => {
  const firsts = runs.value.map(({ page }) => page.rows[0]?.id);
  return runs.value.filter((_, at) => firsts.indexOf(firsts[at]) === at);
});

async function load({ source, version, program, devices }: Question, abort: AbortSignal) {
  const found = await Promise.all(
    devices.map(async ({ key, name }): Promise<Ran> => {
      const every = { axis: "event", begin: null, end: null, at: null } as const;
      const first = { find: `/^${program}$/`, sort: "begin", offset: 0, limit: 1 };
      const page = await getModules({ source, version, device: key, ...every, ...first }, abort);
      return { key, name, page };
    }),
  );
  return { program, ran: found.filter(({ page }) => page.found > 0) };
}

/** To the first of the runs, in the Profile of its device. */
export function goToRun({ key, page }: Ran): void {
  const [first] = page.rows;
  batch(() => {
    chooseDevice(key);
    chooseAxis("time");
    if (first && first.begin !== null && first.end !== null) {
      range.value = { begin: first.begin, end: Math.max(first.end, first.begin + 1) };
    }
  });
}

/** To the first time that an instruction ran, in the Trace of its device, with what is around it. */
export function goToInstruction({ device, span }: NonNullable<PlanBuffer["ran"]>): void {
  const around = Math.max(span.end - span.begin, 1);
  batch(() => {
    chooseDevice(device);
    chooseAxis("time");
    viewKey.value = "trace";
    range.value = { begin: span.begin - around, end: span.end + around };
    selection.value = { kind: "span", id: span.id };
  });
}
