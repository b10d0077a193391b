/** The list of sources, by run; choosing one opens it. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Source } from "../api";
import { chooseSource } from "../flow/choose";
import { counted } from "../format";
import { openStatus, sourceId, sourceList, summary } from "../state/recording";
import { drawer } from "./drawer";
import { atMost, byRun, factsLine, matching } from "./names";

const MANY = 8;
/** More than anyone reads; the filter finds the others. */
const MOST = 200;
const search = signal("");

export function Recordings() {
  const list = sourceList.value;
  if (!list || list.sources.length === 0) return null;
  const many = list.sources.length > MANY;
  const found = many ? matching(list.sources, search.value) : list.sources;
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
        {byRun(shown).map(({ run, sources }) => (
          <Run key={run} run={run} sources={sources} />
        ))}
      </ul>
      {hidden > 0 && (
        <p class="item quiet small">{counted(hidden, "more recording")}; the filter finds them</p>
      )}
      {list.scanning && <p class="item quiet small">Looking for more …</p>}
    </nav>
  );
}

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

function Run({ run, sources }: { run: string; sources: Source[] }) {
  const [only] = sources;
  if (sources.length === 1 && only) return <Item source={only} title={run || only.name} />;
  return (
    <li>
      {run && (
        <p class="item run clip" title={run}>
          {run}
        </p>
      )}
      <ul>
        {sources.map((source) => (
          <Item key={source.id} source={source} title={source.name} inner={run !== ""} />
        ))}
      </ul>
    </li>
  );
}

interface ItemProperties {
  source: Source;
  title: string;
  inner?: boolean;
}

function Item({ source, title, inner = false }: ItemProperties) {
  const chosen = source.id === sourceId.value;
  const open = (): void => {
    chooseSource(source.id);
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
        title={[source.run, source.name].filter(Boolean).join("/")}
        onClick={open}
      >
        <span class="clip">{title}</span>
        {source.live && <span class="live">live</span>}
        <Facts source={source} chosen={chosen} />
      </button>
    </li>
  );
}

function Facts({ source, chosen }: { source: Source; chosen: boolean }) {
  const state = chosen && openStatus.value ? openStatus.value.state : source.state;
  const error = (chosen ? openStatus.value?.error : null) ?? source.error;
  if (state === "error") return <span class="facts danger">{error ?? "cannot be read"}</span>;
  if (state === "reading") return <span class="facts">reading …</span>;
  if (state === "queued") return <span class="facts">waiting to be read …</span>;
  return <span class="facts">{factsLine(source)}</span>;
}
