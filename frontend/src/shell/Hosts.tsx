/** The hosts or ranks of the session: how full each one got, and which is looked at. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Session, Source } from "../api";
import { Meter } from "../components/Meter";
import { goToHost, isReadWhole, readAll, stopReading } from "../flow/hosts";
import { bytes, count, counted } from "../format";
import { hostName, hosts, session } from "../state/hosts";
import { sourceId } from "../state/recording";
import { Balance } from "./Balance";
import { drawer } from "./drawer";
import { hostsWord } from "./entries";
import {
  fullBar,
  matchingHosts,
  mostHosts,
  peakOf,
  peakWords,
  shortNames,
  stateWords,
} from "./peaks";
import { walk } from "./walk";

const TITLES: Readonly<Record<Session["of"], string>> = {
  host: "Hosts",
  rank: "Ranks",
  module: "Files of modules",
};
const MANY = 8;
/** More than anyone compares by eye; the filter finds the others. */
const MOST = 64;
const search = signal("");

export function Hosts() {
  const [known, all] = [session.value, hosts.value];
  if (!known || all.length < 2) return null;
  const many = all.length > MANY;
  const found = many ? matchingHosts(all, search.value) : all;
  const { shown, hidden } = mostHosts(found, MOST, sourceId.value);
  const title = TITLES[known.of];
  const full = fullBar(all);
  const names = new Map(shortNames(all).map((name, at) => [all[at]?.id, name]));
  return (
    <nav aria-label={title} class="hosts">
      <h2 class="heading">
        {title} <span class="count">{count(all.length)}</span>
      </h2>
      <Balance hosts={all} of={known.of} />
      <Progress all={all} of={known.of} />
      {many && <Search of={known.of} />}
      {found.length === 0 && <p class="item quiet">No {known.of} is named so.</p>}
      <ul onKeyDown={walk}>
        {shown.map((host) => (
          <Row key={host.id} host={host} name={names.get(host.id) ?? ""} full={full} />
        ))}
      </ul>
      {hidden > 0 && (
        <p class="item quiet small">{counted(hidden, `more ${known.of}`)}; the filter finds them</p>
      )}
    </nav>
  );
}

function Search({ of }: { of: Session["of"] }) {
  return (
    <div class="item">
      <input
        class="field search"
        type="search"
        placeholder={`Filter ${of}s`}
        aria-label={`Filter ${of}s`}
        value={search.value}
        onInput={(event) => (search.value = event.currentTarget.value)}
      />
    </div>
  );
}

/** Where there are many they are read when somebody asks for it. */
function Progress({ all, of }: { all: Source[]; of: Session["of"] }) {
  const isOpen = (host: Source): boolean => host.id === sourceId.value;
  const unread = all.filter((host) => host.state === "new" && !isOpen(host)).length;
  const busy = all.filter(({ state }) => state === "reading" || state === "queued").length;
  const others = all.filter((host) => host.state === "queued" && !isOpen(host)).length;
  if (busy > 0 && others > 0) {
    const done = all.length - unread - busy;
    return (
      <div class="item reading">
        <progress max={all.length} value={done} aria-label={`Reading ${of}s`} />
        <p class="small quiet">
          <span role="status">{`${done} of ${hostsWord(all.length, of)} read`}</span>
          <button type="button" class="link" onClick={stopReading}>
            Stop
          </button>
        </p>
      </div>
    );
  }
  if (unread === 0 || isReadWhole.value) return null;
  return (
    <div class="item">
      <button type="button" class="button" onClick={readAll}>
        Read all {hostsWord(all.length, of)}
      </button>
    </div>
  );
}

interface RowProperties {
  host: Source;
  name: string;
  full: ReturnType<typeof fullBar>;
}

function Row({ host, name, full }: RowProperties) {
  const peak = peakOf(host);
  const words = peakWords(host);
  const isChosen = host.id === sourceId.value;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) button.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const choose = (): void => {
    goToHost(host.id);
    drawer.value = false;
  };
  return (
    <li>
      <button
        ref={button}
        type="button"
        class="item device host"
        aria-current={isChosen ? "true" : undefined}
        title={`${[host.run, host.name].filter(Boolean).join("/")}: ${words}`}
        onClick={choose}
      >
        <span class="clip">
          <span aria-hidden="true">{name}</span>
          <span class="unseen">{hostName(host)}</span>
          {host.live && <span class="live">live</span>}
        </span>
        {peak === null ? (
          <span class={`small clip told ${host.state === "error" ? "danger" : "quiet"}`}>
            {host.state === "error" ? "cannot be read" : stateWords(host) || "not read"}
          </span>
        ) : (
          <>
            <Meter value={peak / full.bytes} label={words} />
            <span class="number small quiet">{bytes(peak)}</span>
          </>
        )}
      </button>
    </li>
  );
}
