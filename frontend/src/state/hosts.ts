/** The session that the open recording is of, and its hosts. */

import { computed } from "@preact/signals";
import type { Session, Source } from "../api/types";
import { source, sourceList } from "./recording";

/** Null where the recording is of one host alone. */
export const session = computed<Session | null>(() => {
  const key = source.value?.session;
  if (!key) return null;
  return sourceList.value?.sessions.find((one) => one.key === key) ?? null;
});

const order = new Intl.Collator(undefined, { numeric: true });

export const hostName = ({ host, name }: Source): string => host ?? name;

/** Hosts as people count them: rank 2 before rank 10. */
export const inOrder = (hosts: readonly Source[]): Source[] =>
  [...hosts].sort(
    (a, b) =>
      (a.rank ?? 0) - (b.rank ?? 0) ||
      order.compare(hostName(a), hostName(b)) ||
      (a.id < b.id ? -1 : 1),
  );

/** Modules as people look for them: the highest peak first, then what is not read yet. */
const byPeak = (modules: readonly Source[]): Source[] =>
  inOrder(modules).sort((a, b) => (b.brief?.peak_bytes ?? -1) - (a.brief?.peak_bytes ?? -1));

/** The hosts of the session, in order; none where there is no session. */
export const hosts = computed<Source[]>(() => {
  const key = session.value?.key;
  if (!key) return [];
  const all = sourceList.value?.sources.filter((one) => one.session === key) ?? [];
  return session.value?.of === "module" ? byPeak(all) : inOrder(all);
});

/** The host to begin with: the first that is not known to be unreadable. */
export function firstHost(among: readonly Source[]): Source | null {
  const ordered = inOrder(among);
  return ordered.find(({ state }) => state !== "error") ?? ordered[0] ?? null;
}
