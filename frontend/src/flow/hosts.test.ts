import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Device, OpenStatus, Session, Source, Summary } from "../api";
import { firstHost, hosts, session } from "../state/hosts";
import { openStatus, sourceId, sourceList, summary } from "../state/recording";
import { axis, by, cursor, deviceKey, filter, range, selection, viewKey } from "../state/view";
import { visible } from "../state/visible";
import { applySummary, chooseSource, firstChoice } from "./choose";
import { AUTOMATIC, followHosts, goToHost, isReadWhole, readAll, stopReading } from "./hosts";
import { stateLink } from "./linking";

const ORIGIN = 1_700_000_000_123_456_789n;
const SESSION: Session = { key: "k", run: "job", label: "rank*.pickle", of: "rank" };
const rank = (number: number, over: Partial<Source> = {}): Source =>
  ({
    id: `id ${number}`,
    run: "job",
    name: `rank${number}.pickle`,
    bytes: 1,
    modified_ns: number,
    state: "ready",
    session: "k",
    host: `rank ${number}`,
    rank: number,
    ...over,
  }) as Source;
const list = (sources: Source[]) => ({
  scanning: false,
  logdirs: [],
  sessions: [SESSION],
  sources,
  shows_code: false,
});
const device = (key: string): Device =>
  ({
    key,
    events: 9,
    begin_time: 0,
    end_time: 999_999,
    default_grouping: "stack",
    allocated_peak: key === "1" ? 5 : 1,
  }) as Device;
const recording = (origin: bigint, over: Partial<Summary> = {}): Summary =>
  ({
    version: `${origin}`,
    plans: [],
    axes: ["time", "event"],
    meta: { clock: "unix" },
    time_origin: `${origin}`,
    groupings: [
      { key: "op", label: "op" },
      { key: "stack", label: "stack" },
    ],
    devices: [device("0"), device("1")],
    ...over,
  }) as Summary;

let asked: string[];
let end = (): void => undefined;

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response("{}");
  });
  visible.value = true;
  axis.value = "time";
  sourceList.value = list([rank(2), rank(10), rank(0)]);
  chooseSource("id 0");
});

afterEach(() => {
  end();
  end = () => undefined;
  sourceList.value = null;
  chooseSource("none");
  sourceId.value = null;
  vi.unstubAllGlobals();
});

describe("a session", () => {
  it("has modules of a dump by their peaks, what is not read yet last", () => {
    const peak = (peak_bytes: number) => ({ brief: { peak_bytes } }) as Partial<Source>;
    const modules = [rank(1, peak(5)), rank(2), rank(3, peak(9)), rank(4, peak(5)), rank(0)];
    sourceList.value = { ...list(modules), sessions: [{ ...SESSION, of: "module" }] };
    expect(hosts.value.map(({ id }) => id)).toEqual(["id 3", "id 1", "id 4", "id 0", "id 2"]);
  });

  it("has its hosts in their order, whichever is open", () => {
    expect(session.value?.label).toBe("rank*.pickle");
    expect(hosts.value.map((one) => one.rank)).toEqual([0, 2, 10]);
    sourceList.value = list([rank(0, { session: null }), rank(1)]);
    expect([session.value, hosts.value]).toEqual([null, []]);
  });

  it("opens with its first host that can be read", () => {
    const some = [rank(3), rank(1), rank(0, { state: "error" })];
    expect(firstHost(some)?.rank).toBe(1);
    expect(firstHost(some.slice(2))?.rank).toBe(0);
    expect(firstChoice(some)?.rank).toBe(1);
    expect(firstChoice([rank(3), rank(1, { state: "new" })])?.rank).toBe(3);
  });
});

describe("another host", () => {
  const leave = (over: Partial<Summary> = {}): void => {
    applySummary(recording(ORIGIN, over));
    viewKey.value = "segments";
    deviceKey.value = "0";
    by.value = "op";
    filter.value = "size>1";
    range.value = { begin: 1_000, end: 5_001 };
    cursor.value = 3;
    selection.value = { kind: "allocation", id: "7" };
    goToHost("id 10");
  };

  it("keeps view, device, grouping and filter, and lets go of what is of the other host", () => {
    leave();
    expect(stateLink()).toMatchObject({ run: "job", source: "rank10.pickle", device: "0" });
    applySummary(recording(ORIGIN));
    expect([sourceId.value, viewKey.value, deviceKey.value, by.value, filter.value]).toEqual([
      "id 10",
      "segments",
      "0",
      "op",
      "size>1",
    ]);
    expect([cursor.value, selection.value]).toEqual([null, null]);
  });

  it("keeps the window on the clock of both, to the nanosecond", () => {
    leave();
    applySummary(recording(ORIGIN - 77n));
    expect(range.value).toEqual({ begin: 1_077, end: 5_078 });
  });

  it("keeps what both have of the window, and shows everything where that is nothing", () => {
    leave();
    applySummary(recording(ORIGIN + 3_000n));
    expect(range.value).toEqual({ begin: 0, end: 2_001 });
    goToHost("id 2");
    applySummary(recording(ORIGIN + 10_000_000n));
    expect(range.value).toBeNull();
  });

  it("shows everything where clocks cannot be compared, or events are counted", () => {
    leave();
    applySummary(recording(ORIGIN, { meta: { clock: "monotonic" } }));
    expect(range.value).toBeNull();
    chooseSource("id 0");
    axis.value = "event";
    leave();
    applySummary(recording(ORIGIN));
    expect([axis.value, range.value]).toEqual(["event", null]);
  });

  it("hands the window on past a host that was left before it was read", () => {
    leave();
    goToHost("id 2");
    applySummary(recording(ORIGIN));
    expect([sourceId.value, range.value]).toEqual(["id 2", { begin: 1_000, end: 5_001 }]);
    chooseSource("id 0");
    applySummary(recording(ORIGIN));
    expect(range.value).toBeNull();
  });

  it("falls back to the fullest device where it has not the same", () => {
    leave();
    applySummary(recording(ORIGIN, { devices: [device("1"), device("5")] }));
    expect(deviceKey.value).toBe("1");
  });

  it("is one of the same session only", () => {
    goToHost("id 0");
    goToHost("elsewhere");
    expect(sourceId.value).toBe("id 0");
  });
});

describe("the other hosts", () => {
  const many = (count: number): Source[] =>
    Array.from({ length: count }, (_, number) => rank(number, { state: "new" }));
  const ready = { state: "ready" } as OpenStatus;
  const reads = (): string[] => asked.filter((url) => url.startsWith("./read"));

  it("are read once the chosen one is, and when new ones come", () => {
    sourceList.value = list(many(3));
    end = followHosts();
    expect(reads()).toEqual([]);
    openStatus.value = ready;
    expect(reads()).toEqual(["./read?source=id+0"]);
    sourceList.value = list(many(3).map((one) => ({ ...one, state: "queued" })));
    expect(reads()).toHaveLength(1);
    sourceList.value = list([
      ...many(3).map((one) => ({ ...one, state: "ready" }) as Source),
      rank(9, { state: "new" }),
    ]);
    expect(reads()).toHaveLength(2);
  });

  it("are not read while nobody looks, nor where there is nothing to read", () => {
    sourceList.value = list(many(3));
    openStatus.value = ready;
    visible.value = false;
    end = followHosts();
    expect(reads()).toEqual([]);
    sourceList.value = list([rank(0), rank(1)]);
    visible.value = true;
    expect(reads()).toEqual([]);
  });

  it("are read when somebody asks for it where there are many", () => {
    sourceList.value = list(many(AUTOMATIC + 1));
    openStatus.value = ready;
    end = followHosts();
    expect([reads(), isReadWhole.value]).toEqual([[], false]);
    readAll();
    expect([reads(), isReadWhole.value]).toEqual([["./read?source=id+0"], true]);
    stopReading();
    expect(isReadWhole.value).toBe(false);
    expect(reads()[1]).toBe("./read?source=id+0&stop=1");
  });

  it("are read when somebody asks for it where they are large", () => {
    sourceList.value = list(many(3).map((one) => ({ ...one, bytes: 2 ** 30 })));
    openStatus.value = ready;
    end = followHosts();
    expect([reads(), isReadWhole.value]).toEqual([[], false]);
  });

  it("are not asked for of a recording that stands alone", () => {
    sourceList.value = list([rank(0, { session: null, state: "new" })]);
    openStatus.value = ready;
    end = followHosts();
    expect([reads(), summary.value]).toEqual([[], null]);
  });
});
