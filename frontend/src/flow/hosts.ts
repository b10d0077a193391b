/** Changes the host of a session, and has its other hosts read once the chosen one is. */

import { computed, effect, signal } from "@preact/signals";
import { readSession, type Source } from "../api";
import { hosts, session } from "../state/hosts";
import { openStatus, sourceId } from "../state/recording";
import { visible } from "../state/visible";
import { chooseHost } from "./choose";
import { stateLink } from "./linking";
import { refreshSources } from "./sources";

/** So many hosts, and so much of them, are read without being asked for. */
export const AUTOMATIC = 16;
const AUTOMATIC_BYTES = 2 * 2 ** 30;

const isSmall = (all: readonly Source[]): boolean =>
  all.length <= AUTOMATIC && all.reduce((sum, { bytes }) => sum + bytes, 0) <= AUTOMATIC_BYTES;

/** Sessions whose hosts somebody wants to be read, however many there are. */
const wanted = signal<ReadonlySet<string>>(new Set());

/** Whether the hosts of the session are read by themselves, or because somebody asked for it. */
export const isReadWhole = computed(
  () => isSmall(hosts.value) || wanted.value.has(session.value?.key ?? ""),
);

/** Opens another host and keeps what is looked at. */
export function goToHost(id: string): void {
  const [left, to] = [stateLink(), hosts.peek().find((host) => host.id === id)];
  if (!to || id === sourceId.peek()) return;
  chooseHost(id, { ...left, run: to.run, source: to.name });
}

export function readAll(): void {
  const key = session.peek()?.key;
  if (key) wanted.value = new Set([...wanted.peek(), key]);
}

export function stopReading(): void {
  const [key, id] = [session.peek()?.key, sourceId.peek()];
  if (!key || !id) return;
  wanted.value = new Set([...wanted.peek()].filter((one) => one !== key));
  void ask(id, true);
}

/** Looks again at hosts that may have changed since they were read. */
export function rereadHosts(): void {
  const id = sourceId.peek();
  if (id && session.peek() && isReadWhole.peek()) void ask(id);
}

/** The ids of hosts that nobody has read, once the chosen one is or cannot be. */
const unread = computed(() => {
  const state = openStatus.value?.state;
  if (!session.value || !isReadWhole.value || (state !== "ready" && state !== "error")) return "";
  const fresh = hosts.value.filter((host) => host.state === "new");
  return fresh.map(({ id }) => id).join();
});

/** Follows the session; the answer ends it. */
export function followHosts(): () => void {
  return effect(() => {
    const id = sourceId.value;
    if (id && unread.value && visible.value) void ask(id);
  });
}

async function ask(id: string, stop = false): Promise<void> {
  try {
    await readSession(id, stop);
    refreshSources();
  } catch {
    // The list is asked for anyway, and says what is wrong with the server.
  }
}
