import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Source, SourceList, Summary } from "../api";
import { sourceId, sourceList, summary } from "../state/recording";
import { cursor, range, selection, viewKey } from "../state/view";
import { visible } from "../state/visible";
import { applySummary, chooseSource, pending } from "./choose";
import { followLink } from "./linking";

/** As much of TensorBoard's page as a link needs. */
class Page extends EventTarget {
  readonly location = { hash: "", pathname: "/", search: "?x=1" };
  written: string[] = [];
  /** Addresses that "back" leads to. */
  left: string[] = [];
  readonly history = {
    state: { kept: true },
    pushState: (state: unknown, title: string, url: string): void => {
      this.left.push(this.location.hash);
      this.history.replaceState(state, title, url);
    },
    replaceState: (state: unknown, _title: string, url: string): void => {
      if (state !== this.history.state) throw new Error("TensorBoard's own state was lost");
      this.written.push(url);
      this.location.hash = url.slice(url.indexOf("#"));
    },
  };

  /** A user edits the address, or goes back. */
  go(hash: string): void {
    this.location.hash = hash;
    this.dispatchEvent(new Event("hashchange"));
  }
}

let page: Page;
let end: () => void = () => undefined;

const frame = (): Window => ({ parent: page }) as unknown as Window;
const known = (): SourceList => ({
  scanning: false,
  shows_code: false,
  logdirs: [],
  sessions: [],
  sources: ["a", "b"].map(
    (name) =>
      ({ id: `id ${name}`, run: "run", name, modified_ns: 1, bytes: 1, state: "new" }) as Source,
  ),
});
const recording = {
  version: "1",
  plans: [],
  axes: ["time", "event"],
  groupings: [{ key: "op", label: "op" }],
  devices: [{ key: "0", default_grouping: "op", events: 9, allocated_peak: 1 }],
} as unknown as Summary;

beforeEach(() => {
  vi.useFakeTimers();
  page = new Page();
  visible.value = true;
  sourceList.value = null;
  chooseSource("none");
  sourceId.value = null;
  pending.value = null;
});

afterEach(() => {
  end();
  vi.useRealTimers();
});

const settle = (): void => void vi.advanceTimersByTime(1000);

it("opens the source of a link whatever its id, and its place once it is read", () => {
  page.location.hash =
    "#memory&p.memory.run=run&p.memory.source=a&p.memory.at=4&p.memory.allocation=7";
  end = followLink(frame(), null);
  sourceList.value = known();
  expect(sourceId.value).toBe("id a");
  settle();
  expect(page.location.hash).toContain("p.memory.at=4"); // the link survives until it is used
  applySummary(recording);
  expect([cursor.value, selection.value]).toEqual([4, { kind: "allocation", id: "7" }]);
});

it("shows the tab of a link while its source is read, and keeps the one chosen meanwhile", () => {
  page.location.hash = "#memory&p.memory.run=run&p.memory.source=a&p.memory.view=segments";
  end = followLink(frame(), null);
  expect(viewKey.value).toBe("segments");
  sourceList.value = known();
  expect(viewKey.value).toBe("segments");
  viewKey.value = "flame";
  applySummary(recording);
  expect(viewKey.value).toBe("flame");
  settle();
  expect(page.location.hash).toContain("p.memory.view=flame");
});

it("waits for the source of a link instead of opening another", () => {
  page.location.hash = "#memory&p.memory.run=run&p.memory.source=c";
  end = followLink(frame(), null);
  sourceList.value = known();
  expect(sourceId.value).toBeNull();
  const later = known();
  sourceList.value = {
    ...later,
    sources: [...later.sources, { ...later.sources[0], id: "id c", name: "c" } as Source],
  };
  expect(sourceId.value).toBe("id c");
});

it("writes the state into the address, without TensorBoard losing its own", () => {
  page.location.hash = "#memory&p.scalars.tag=x";
  end = followLink(frame(), null);
  sourceList.value = known();
  applySummary(recording);
  cursor.value = 3;
  settle();
  expect(page.location.hash).toMatch(/^#memory&p\.scalars\.tag=x&p\.memory\.run=run&/);
  expect(page.location.hash).toContain("p.memory.at=3");
  expect(page.written.every((url) => url.startsWith("/?x=1#"))).toBe(true);
});

it("writes once for a storm of changes", () => {
  end = followLink(frame(), null);
  sourceList.value = known();
  applySummary(recording);
  settle();
  const before = page.written.length;
  for (let begin = 0; begin < 100; begin += 1) range.value = { begin, end: 200 };
  settle();
  expect(page.written.length - before).toBe(1);
  expect(page.location.hash).toContain("p.memory.window=99..200");
});

it("goes back to the recording that was left, and past everything else", () => {
  end = followLink(frame(), null);
  sourceList.value = known();
  chooseSource("id a");
  applySummary(recording);
  settle();
  cursor.value = 3;
  settle();
  expect(page.left).toEqual([]);
  chooseSource("id b");
  applySummary(recording);
  settle();
  expect(page.left).toHaveLength(1);
  expect(page.left[0]).toContain("p.memory.source=a&");
  page.go(page.left[0] ?? "");
  applySummary(recording);
  settle();
  expect([sourceId.value, cursor.value]).toEqual(["id a", 3]);
  expect(page.left).toHaveLength(1);
});

it("leaves the address alone while another tab is shown", () => {
  end = followLink(frame(), null);
  sourceList.value = known();
  applySummary(recording);
  settle();
  visible.value = false;
  page.go("#scalars");
  cursor.value = 5;
  settle();
  expect(page.location.hash).toBe("#scalars");
  visible.value = true;
  settle();
  expect(page.location.hash).toContain("p.memory.at=5");
});

it("follows an address changed by hand, in the same recording and to another", () => {
  end = followLink(frame(), null);
  sourceList.value = known();
  applySummary(recording);
  settle();
  const first = sourceId.value;
  page.go(`${page.location.hash}&p.memory.at=8`);
  expect([sourceId.value, cursor.value]).toEqual([first, 8]);
  const other = first === "id a" ? "b" : "a";
  page.go(`#memory&p.memory.run=run&p.memory.source=${other}`);
  expect(sourceId.value).toBe(`id ${other}`);
  expect(summary.value).toBeNull();
});

it("asks TensorBoard where its address cannot be read", async () => {
  const sealed = {
    get parent(): Window {
      return {
        get location(): Location {
          throw new DOMException("another origin", "SecurityError");
        },
      } as unknown as Window;
    },
  } as Window;
  const host = {
    listen: () => undefined,
    ask: async (type: string) =>
      type === "experimental.GetURLPluginData" ? { run: "run", source: "b" } : null,
  };
  end = followLink(sealed, host);
  await vi.advanceTimersByTimeAsync(0);
  sourceList.value = known();
  expect(sourceId.value).toBe("id b");
});
