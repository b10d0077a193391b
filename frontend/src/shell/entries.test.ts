import { expect, it } from "vitest";
import type { Session, Source } from "../api";
import { entriesOf, entryFacts, shownName } from "./entries";
import { matching } from "./names";

const MIB = 2 ** 20;
const session: Session = { key: "k", run: "job", label: "2026_01_02", of: "host" };
const host = (name: string, over: Partial<Source> = {}): Source =>
  ({
    id: `id ${name}`,
    run: "job",
    name: `plugins/profile/2026_01_02/${name}.xplane.pb`,
    format: "xplane",
    bytes: 2048,
    modified_ns: 1,
    state: "new",
    session: "k",
    host: name,
    brief: null,
    ...over,
  }) as Source;
const peak = (bytes: number): Source["brief"] => ({
  events: 9,
  steps: 1,
  devices: 1,
  peak_bytes: bytes,
  peak_device: "cuda:0",
  capacity: null,
});
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

const LIST = {
  sessions: [session],
  sources: [
    host("a", { modified_ns: 3 }),
    host("alone", { session: null, run: "other" }),
    host("b", { modified_ns: 7, brief: peak(5 * MIB), state: "ready" }),
    host("c", { brief: peak(3 * MIB), state: "error" }),
  ],
};

it("makes one entry of a session, as new as the newest of its hosts", () => {
  const shape = entriesOf(LIST).map((one) => [one.run, one.name, one.sources.length]);
  expect(shape).toEqual([
    ["job", "2026_01_02", 3],
    ["other", "plugins/profile/2026_01_02/alone.xplane.pb", 1],
  ]);
  expect(entriesOf(LIST)[0]?.modified_ns).toBe(7);
});

it("loses no source where a session is not known yet", () => {
  expect(entriesOf({ ...LIST, sessions: [] })).toHaveLength(4);
});

it("says how many hosts there are, how high they got and how many are broken", () => {
  const [all, alone] = entriesOf(LIST);
  expect(all && plain(entryFacts(all))).toBe(
    "3 hosts · XPlane · peak 5.00 MiB · 1 host cannot be read",
  );
  expect(alone && plain(entryFacts(alone))).toBe("XPlane · 2.00 KiB");
});

it("finds a session by one of its hosts, and by words of both", () => {
  const entries = entriesOf(LIST);
  expect(matching(entries, "job c.xplane").map(({ id }) => id)).toEqual(["k"]);
  expect(matching(entries, "2026 xplane")).toHaveLength(2);
  expect(matching(entries, "a.xplane b.xplane")).toEqual([]);
});

it("leaves out of a name what its format says anyway", () => {
  expect(shownName("plugins/profile/2026_01_02/host.example.xplane.pb.gz")).toBe(
    "2026_01_02 · host.example",
  );
  expect(shownName("sub/rank0.pickle")).toBe("sub/rank0.pickle");
});
