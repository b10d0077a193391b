/** The list of recordings, by run; choosing one opens it. A session of several hosts is one. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Source } from "../api";
import { chooseSource } from "../flow/choose";
import { counted } from "../format";
import { firstHost } from "../state/hosts";
import { openStatus, sourceId, sourceList, summary } from "../state/recording";
import { drawer } from "./drawer";
import { type Entry, entriesOf, entryFacts, shownName } from "./entries";
import { atMost, byRun, matching } from "./names";

const MANY = 8;
/** More than anyone reads; the filter finds the others. */
const MOST = 200;
const search = signal("");

export function Recordings() {
  const list = sourceList.value;
  if (!list || list.sources.length === 0) return null;
  const entries = entriesOf({ ...list, sources: worthListing(list.sources) });
  const many = entries.length > MANY;
  const found = many ? matching(entries, search.value) : entries;
  const { shown, hidden } = atMost(found, MOST, sourceId.value);
  return (
    <nav aria-label="Recordings">
      <h2 class="heading">Recordings</h2>
      {many && <Search />}
      {shown.length === 0 && (
        <p class="item quiet">
          No recording is named so.{" "}
          <button type="button" class="link" onClick={() => (search.value = "")}>
            Show all
          </button>
        </p>
      )}
      <ul>
        {byRun(shown).map(({ run, entries }) => (
          <Run key={run} run={run} entries={entries} />
        ))}
      </ul>
      {hidden > 0 && (
        <p class="item quiet small">{counted(hidden, "more recording")}; the filter finds them</p>
      )}
      {list.scanning && <p class="item quiet small">Looking for more …</p>}
    </nav>
  );
}

/** Every shift that was tried is a source of its own: of those only the one that is looked at. */
const worthListing = (sources: readonly Source[]): Source[] =>
  sources.filter(({ id, pair }) => !pair || pair.shift_ns === null || id === sourceId.value);

function Search() {
  return (
    <div class="item">
      <input
        class="field search"
        type="search"
        placeholder="Filter recordings"
        aria-label="Filter recordings"
        value={search.value}
        onInput={(event) => (search.value = event.currentTarget.value)}
      />
    </div>
  );
}

function Run({ run, entries }: { run: string; entries: Entry[] }) {
  const [only] = entries;
  if (entries.length === 1 && only) return <Item entry={only} alone={run !== ""} />;
  return (
    <li>
      {run && (
        <p class="item run clip" title={run}>
          {run}
        </p>
      )}
      <ul>
        {entries.map((entry) => (
          <Item key={entry.id} entry={entry} inner={run !== ""} />
        ))}
      </ul>
    </li>
  );
}

interface ItemProperties {
  entry: Entry;
  /** It is the only one of its run, and goes by that one's name. */
  alone?: boolean;
  inner?: boolean;
}

function Item({ entry, alone = false, inner = false }: ItemProperties) {
  const chosen = entry.sources.some(({ id }) => id === sourceId.value);
  const open = (): void => {
    const host = firstHost(entry.sources);
    if (host && !chosen) chooseSource(host.id);
    drawer.value = false;
  };
  const button = useRef<HTMLButtonElement>(null);
  // A link may open what is far down the list; the devices, when they come, make that shorter.
  const devices = chosen ? summary.value?.devices.length : undefined;
  useEffect(() => {
    if (chosen) button.current?.scrollIntoView({ block: "nearest" });
  }, [chosen, devices]);
  return (
    <li>
      <button
        ref={button}
        type="button"
        class={`item recording ${inner ? "inner" : ""}`}
        aria-current={chosen ? "true" : undefined}
        title={[entry.run, entry.name].filter(Boolean).join("/")}
        onClick={open}
      >
        <span class="title">{alone ? entry.run : shownName(entry.name)}</span>
        {entry.sources.some(({ live }) => live) && <span class="live">live</span>}
        <Facts entry={entry} chosen={chosen} alone={alone} />
      </button>
    </li>
  );
}

function Facts({ entry, chosen, alone }: { entry: Entry; chosen: boolean; alone: boolean }) {
  const [only] = entry.sources;
  if (entry.session || !only) {
    // What its hosts are at is said in their own list.
    return (
      <>
        {alone && <span class="facts label">{entry.name}</span>}
        <span class="facts">{entryFacts(entry)}</span>
      </>
    );
  }
  const state = chosen && openStatus.value ? openStatus.value.state : only.state;
  const error = (chosen ? openStatus.value?.error : null) ?? only.error;
  if (state === "error") return <span class="facts danger">{error ?? "cannot be read"}</span>;
  if (state === "reading") return <span class="facts">reading …</span>;
  if (state === "queued") return <span class="facts">waiting to be read …</span>;
  return <span class="facts">{entryFacts(entry)}</span>;
}
