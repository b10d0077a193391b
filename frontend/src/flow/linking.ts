/** Keeps the address and the state of the page the same, in both directions. */

import { batch, effect } from "@preact/signals";
import { later } from "../api";
import { device, isPlan, source, sourceId, sourceList, summary } from "../state/recording";
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
import { visible } from "../state/visible";
import { currentHash, onHashChange, pushHash, replaceHash } from "./address";
import { applySummary, chooseSource, firstChoice, linked, pending } from "./choose";
import type { Host } from "./ipc";
import { CALLS, type CallsWord, fromWords, type Link, readHash, writeHash } from "./link";
import { namesOf } from "./pairLink";
import { traceWords } from "./traceLink";

const SETTLE_MS = 200;

/** Starts from the link and follows it from then on; the answer ends it. */
export function followLink(frame: Window, host: Host | null): () => void {
  const hash = currentHash(frame);
  if (hash !== null) follow(readHash(hash));
  else void askHost(host);
  const ends = [
    onHashChange(frame, (changed) => follow(readHash(changed))),
    effect(findSource),
    effect(() => {
      const link = stateLink();
      if (!link || !visible.value) return;
      // Browsers refuse to have an address changed with every frame of a zoom.
      return later(() => write(frame, link), SETTLE_MS);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** "Back" leads to the recording that was left; all else of a link is one entry of the history. */
function write(frame: Window, link: Link): void {
  const before = currentHash(frame) ?? "";
  const { run, source: name, with: other } = readHash(before);
  const isSame = name === link.source && run === link.run && other === link.with;
  const isAnother = name !== undefined && !isSame;
  (isAnother ? pushHash : replaceHash)(frame, writeHash(before, link));
}

/** TensorBoard in another origin's frame cannot be read, but tells when asked. */
async function askHost(host: Host | null): Promise<void> {
  const words = await host?.ask("experimental.GetURLPluginData");
  if (words && typeof words === "object") follow(fromWords(words as Record<string, string>));
}

/** Someone came with a link, or changed the address by hand. */
function follow(link: Link): void {
  if (!meansSource(link)) return;
  const shown = stateLink();
  if (shown && JSON.stringify(shown) === JSON.stringify(link)) return;
  batch(() => {
    const sameSource =
      (link.source ?? shown?.source) === shown?.source &&
      link.with === shown?.with &&
      link.withRun === shown?.withRun &&
      link.shift === shown?.shift;
    const same = shown !== null && (link.run ?? shown.run) === shown.run && sameSource;
    if (!same) {
      sourceId.value = null;
      summary.value = null;
    }
    pending.value = link;
    // Tabs are there while the source is still read, and may be changed by then.
    if (link.view) viewKey.value = link.view;
    const known = summary.peek();
    if (!same || !known) return;
    summary.value = null;
    applySummary(known);
  });
}

const meansSource = ({ run, source }: Link): boolean => (run ?? source) !== undefined;

/** Picks the source that the link means, or a sensible one if there is no link. */
function findSource(): void {
  const list = sourceList.value;
  const link = pending.value;
  if (!list || sourceId.value !== null) return;
  const found =
    link && meansSource(link)
      ? linked(list.sources, link)
      : (firstChoice(list.sources)?.id ?? null);
  if (found === null) return;
  chooseSource(found);
  pending.value = link;
}

const CALLS_SHOWN: Readonly<Record<CallsWord, () => boolean>> = {
  inverted: () => inverted.value,
  unfolded: () => !folded.value,
  upwards: () => upwards.value,
  modules: () => callColours.value === "module",
  groups: () => callColours.value === "group",
};

/** What the address should say now; null while there is nothing worth a link. */
export function stateLink(): Link | null {
  const shown = source.value;
  if (!shown) return null;
  const link: Link = { run: shown.run, ...namesOf(shown, sourceList.value?.sources ?? []) };
  if (pending.value || !summary.value) return pending.value;
  link.view = viewKey.value;
  const shownDevice = isPlan.value ? deviceKey.value : device.value?.key;
  if (shownDevice) link.device = shownDevice;
  link.axis = axis.value;
  if (range.value) link.window = range.value;
  if (cursor.value !== null) link.at = cursor.value;
  link.by = by.value;
  if (by.value === "pattern") link.pattern = pattern.value;
  if (selection.value) link.selection = selection.value;
  if (filter.value) link.filter = filter.value;
  if (eventFilter.value) link.events = eventFilter.value;
  if (sort.value !== "-bytes") link.sort = sort.value;
  if (find.value) link.find = find.value;
  if (only.value !== "all") link.only = only.value;
  if (minimum.value > 0) link.minimum = minimum.value;
  if (layout.value !== "stacked") link.layout = layout.value;
  if (bytesRange.value) link.bytes = bytesRange.value;
  if (of.value !== "alive") link.of = of.value;
  const calls = CALLS.filter((word) => CALLS_SHOWN[word]());
  if (calls.length > 0) link.calls = calls;
  if (call.value) link.call = call.value;
  if (blocksBy.value === "group") link.blocks = "group";
  if (areas.value !== "groups") link.areas = areas.value;
  if (table.value !== "breakdown") link.table = table.value;
  if (livesSort.value !== "-bytes") link.livesSort = livesSort.value;
  if (operatorsSort.value !== "-self_increase") link.operatorsSort = operatorsSort.value;
  if (least.value !== null) link.least = least.value;
  if (most.value !== null) link.most = most.value;
  if (findOperator.value) link.operator = findOperator.value;
  if (modulesSort.value !== "begin") link.modulesSort = modulesSort.value;
  if (findModule.value) link.module = findModule.value;
  if (running.value) link.running = "cursor";
  if (aliveOnly.value) link.alive = "cursor";
  return { ...link, ...traceWords() };
}
