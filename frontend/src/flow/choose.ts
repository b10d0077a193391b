/** Choices that move several pieces of state at once: another source, device, axis, grouping. */

import { batch, signal } from "@preact/signals";
import type { Axis, Device, Plan, PlanListed, Source, Summary } from "../api";
import { firstHost } from "../state/hosts";
import { device, extent, openStatus, PLAN, plan, sourceId, summary } from "../state/recording";
import {
  aliveOnly,
  areas,
  axis,
  blocksBy,
  by,
  bytesRange,
  call,
  callColours,
  cursor,
  deviceKey,
  eventFilter,
  filter,
  find,
  findModule,
  findOperator,
  folded,
  hover,
  inverted,
  layout,
  least,
  livesSort,
  minimum,
  modulesSort,
  most,
  of,
  only,
  operatorsSort,
  pattern,
  range,
  running,
  selection,
  sort,
  table,
  upwards,
  viewKey,
} from "../state/view";
import { type Clocked, onClock, sinceOrigin } from "./clock";
import type { Link } from "./link";
import { pairNamed } from "./pairLink";
import { sinceAnother, withoutSpans } from "./pairPlace";
import { applyTraceWords, forgetTrace } from "./traceLink";

/** The rest of a link, waiting for its source to be found and read. */
export const pending = signal<Link | null>(null);

/** Set once the user picked a grouping or came with one; else each device starts with its own. */
let groupingChosen = false;

/** The window of the host that was left, for the one that is being opened. */
let carried: Clocked | null = null;
/** And the plan that was looked at there: on another host the same module has another key. */
let carriedPlan: PlanListed | null = null;
/** What times of the place that is to be taken over count from, where that may be another. */
let carriedOrigin: string | null = null;

function forgetPlace(): void {
  range.value = null;
  cursor.value = null;
  hover.value = null;
  selection.value = null;
  bytesRange.value = null;
}

export function chooseSource(id: string): void {
  if (id === sourceId.peek()) return;
  batch(() => {
    sourceId.value = id;
    summary.value = null;
    openStatus.value = null;
    pending.value = null;
    deviceKey.value = null;
    filter.value = "";
    eventFilter.value = "";
    find.value = "";
    findOperator.value = "";
    findModule.value = "";
    running.value = false;
    aliveOnly.value = false;
    least.value = null;
    most.value = null;
    call.value = null;
    only.value = "all";
    minimum.value = 0;
    forgetTrace();
    groupingChosen = false;
    carried = null;
    carriedPlan = null;
    carriedOrigin = null;
    forgetPlace();
  });
}

/**
 * Another host of the same session: what is looked at stays, as far as that one has it.
 * `link` is the state as a link; events, allocations and bytes in it are of the host that is left.
 */
export function chooseHost(id: string, link: Link): void {
  const left = summary.peek();
  // One that is left before it was read had not taken the window in yet.
  const plan = left === null ? carriedPlan : left.plans.find(({ key }) => key === deviceKey.peek());
  const window =
    left === null ? carried : axis.peek() === "time" ? onClock(range.peek(), left) : null;
  batch(() => {
    chooseSource(id);
    const { window: _window, at: _at, selection: _selection, bytes: _bytes, ...rest } = link;
    const { tracks: _tracks, marks: _marks, ...kept } = rest;
    pending.value = kept;
    carried = window;
    carriedPlan = plan ?? null;
  });
}

/** A recording of the same allocations: what is looked at, `link`, stays but for spans. */
export function chooseSame(id: string, link: Link): void {
  const origin = summary.peek()?.time_origin ?? null;
  batch(() => {
    chooseSource(id);
    pending.value = withoutSpans(link);
    carriedOrigin = origin;
  });
}

export function chooseDevice(key: string): void {
  if (key === deviceKey.peek()) return;
  batch(() => {
    const [from, to] = [deviceKey.peek() ?? "", key].map((each) => each.startsWith(PLAN));
    // Events are counted per device; time is common to all of them.
    const keep = axis.peek() === "time" && !to ? range.peek() : null;
    forgetPlace();
    range.value = keep;
    deviceKey.value = key;
    if (from !== to) changeKind(to === true);
    const chosen = device.peek();
    if (chosen && !groupingChosen) by.value = chosen.default_grouping;
  });
}

/** From a device to a plan, or back: what the other is looked at by makes no sense there. */
function changeKind(isPlan: boolean): void {
  groupingChosen = false;
  filter.value = "";
  find.value = "";
  call.value = null;
  table.value = "breakdown";
  axis.value = isPlan ? "event" : (summary.peek()?.axes[0] ?? "event");
  if (!["allocations", "flame", "source", "settings"].includes(viewKey.peek()))
    viewKey.value = isPlan ? "plan" : "profile";
}

/** Takes a plan in: its own grouping, unless one was chosen that it can tell. */
export function applyPlan(fresh: Plan): void {
  batch(() => {
    plan.value = fresh;
    const isKnown = fresh.groupings.some(({ key }) => key === by.peek());
    if (!groupingChosen || !isKnown) by.value = fresh.device.default_grouping;
  });
}

/** Another device as it is after one of its events: the moment that was looked at, there. */
export function goToDevice(key: string, event: number): void {
  batch(() => {
    chooseDevice(key);
    cursor.value = event;
  });
}

export function chooseAxis(next: Axis, window = null as typeof range.value): void {
  if (next === axis.peek()) return;
  batch(() => {
    axis.value = next;
    range.value = window;
  });
}

export function chooseGrouping(key: string): void {
  groupingChosen = true;
  // A group of the old grouping is not one of the new.
  if (key !== by.peek() && selection.peek()?.kind === "group") selection.value = null;
  by.value = key;
}

/** Takes a recording's summary in: what was chosen stays if it still makes sense. */
export function applySummary(fresh: Summary): void {
  const link = pending.peek();
  pending.value = null;
  const before = summary.peek();
  summary.value = fresh;
  if (before === null) startWith(fresh, link);
  else if (!fresh.axes.includes(axis.peek())) chooseAxis(fresh.axes[0] ?? "event");
}

function startWith(fresh: Summary, link: Link | null): void {
  const planned = plannedStart(fresh, link);
  if (planned) {
    startWithPlan(planned, link, fresh);
    return;
  }
  const chosen = fresh.devices.find(({ key }) => key === link?.device) ?? start(fresh.devices);
  deviceKey.value = chosen?.key ?? null;
  const wanted = link?.axis ?? axis.peek();
  axis.value = fresh.axes.includes(wanted) ? wanted : (fresh.axes[0] ?? "event");
  if (link?.by && fresh.groupings.some(({ key }) => key === link.by)) chooseGrouping(link.by);
  else if (chosen) by.value = chosen.default_grouping;
  if (link) applyPlace(sinceAnother(link, carriedOrigin, fresh.time_origin, axis.peek()), fresh);
  carriedOrigin = null;
  const everything = extent.peek();
  if (carried && everything && axis.peek() === "time") {
    range.value = sinceOrigin(carried, fresh, everything);
  }
  carried = null;
}

/** The plan of the module that was left, or that a link names; that of the highest peak if any will do. */
function plannedStart(fresh: Summary, link: Link | null): PlanListed | undefined {
  const left = carriedPlan;
  carriedPlan = null;
  const named = left
    ? samePlan(fresh.plans, left)
    : fresh.plans.find(({ key }) => key === link?.device);
  const wanted = fresh.devices.length === 0 || (link?.view === "plan" && !link.device);
  if (named || !wanted) return named;
  return [...fresh.plans].sort((a, b) => b.peak - a.peak)[0];
}

function startWithPlan({ key }: PlanListed, link: Link | null, fresh: Summary): void {
  deviceKey.value = key;
  axis.value = "event";
  if (link?.by) chooseGrouping(link.by);
  if (link) applyPlace({ ...link, axis: "event" }, { ...fresh, axes: ["event"] });
  if (!link?.view || ["profile", "segments"].includes(viewKey.peek())) viewKey.value = "plan";
}

/** The device that filled up most is the one to look at first. */
const start = (devices: Device[]): Device | undefined =>
  [...devices].sort((a, b) => b.allocated_peak - a.allocated_peak)[0];

function applyPlace(link: Link, fresh: Summary): void {
  const axisFits = link.axis === undefined || fresh.axes.includes(link.axis);
  range.value = (axisFits && link.window) || null;
  cursor.value = link.at ?? null;
  pattern.value = link.pattern ?? "";
  selection.value = link.selection ?? null;
  filter.value = link.filter ?? "";
  eventFilter.value = link.events ?? "";
  if (link.sort) sort.value = link.sort;
  find.value = link.find ?? "";
  of.value = link.of ?? "alive";
  inverted.value = link.calls?.includes("inverted") ?? false;
  folded.value = !(link.calls?.includes("unfolded") ?? false);
  upwards.value = link.calls?.includes("upwards") ?? false;
  const grouped = link.calls?.includes("groups");
  callColours.value = grouped ? "group" : link.calls?.includes("modules") ? "module" : "code";
  call.value = link.call ?? null;
  blocksBy.value = link.blocks ?? "kind";
  areas.value = link.areas ?? "groups";
  table.value = link.table ?? "breakdown";
  livesSort.value = link.livesSort ?? "-bytes";
  operatorsSort.value = link.operatorsSort ?? "-self_increase";
  least.value = link.least ?? null;
  most.value = link.most ?? null;
  findOperator.value = link.operator ?? "";
  modulesSort.value = link.modulesSort ?? "begin";
  findModule.value = link.module ?? "";
  running.value = link.running === "cursor";
  aliveOnly.value = link.alive === "cursor";
  only.value = link.only ?? "all";
  minimum.value = link.minimum ?? 0;
  layout.value = link.layout ?? "stacked";
  bytesRange.value = link.bytes ?? null;
  applyTraceWords(link);
}

/** The plan of a module of the same name, for the same memory space if that has one. */
function samePlan(plans: readonly PlanListed[], left: PlanListed): PlanListed | undefined {
  const alike = plans.filter(({ module }) => module === left.module);
  const isSame = ({ program, space }: PlanListed) =>
    (program === left.program ? 2 : 0) + (space === left.space ? 1 : 0);
  return alike.sort((a, b) => isSame(b) - isSame(a))[0];
}

const AUTOMATIC_BYTES = 512 * 2 ** 20;

/**
 * The source to show when nothing was asked for: the newest that is read already, else the newest
 * that reads quickly. A huge file is left for the user to open.
 */
export function firstChoice(sources: readonly Source[]): Source | null {
  const newest = sources.filter(({ pair }) => !pair).sort((a, b) => b.modified_ns - a.modified_ns);
  const small = ({ state, bytes }: Source): boolean => state !== "error" && bytes < AUTOMATIC_BYTES;
  const found = newest.find(({ state }) => state === "ready") ?? newest.find(small) ?? null;
  if (!found?.session) return found;
  // Of a session the first host, but not one that takes longer to open.
  const { session, state } = found;
  return firstHost(
    newest.filter((one) => one.session === session && one.state === state && small(one)),
  );
}

/** The id of the source a link means, whatever that is in this server; of a run alone, a sensible one. */
export function linked(sources: readonly Source[], link: Link): string | null {
  const ofRun = sources.filter(({ run }) => run === (link.run ?? ""));
  if (link.source === undefined) return firstChoice(ofRun)?.id ?? null;
  const found = ofRun.find(({ name }) => name === link.source);
  if (found === undefined || link.with === undefined) return found?.id ?? null;
  return pairNamed(found, link, sources);
}
