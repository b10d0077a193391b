import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type BreakdownQuery,
  getBreakdown,
  type OpenStatus,
  type Source,
  type SourceList,
} from "../api";
import { lost, openStatus, sourceId, sourceList, summary } from "../state/recording";
import { resource } from "../state/resource";
import { by } from "../state/view";
import { visible } from "../state/visible";
import { chooseSource } from "./choose";
import { followSource, reopen } from "./opening";
import { pollSources } from "./sources";

/** What the server says to each route, and how often it was asked. */
let answers: Record<string, () => unknown>;
let asked: string[];
let ends: (() => void)[];

const file = (over: Partial<Source> = {}): Source =>
  ({ id: "a", run: "r", name: "n", modified_ns: 1, state: "new", ...over }) as Source;
const list = (over: Partial<SourceList> = {}): SourceList => ({
  scanning: false,
  shows_code: false,
  logdirs: ["runs"],
  sessions: [],
  sources: [],
  ...over,
});
const status = (over: Partial<OpenStatus>): OpenStatus => ({
  state: "reading",
  fraction: 0,
  phase: "",
  error: null,
  version: null,
  ...over,
});

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  answers = { sources: () => list() };
  vi.stubGlobal("fetch", async (url: string) => {
    const route = /^\.\/(\w+)/.exec(url)?.[1] ?? "";
    asked.push(route);
    const answer = answers[route]?.();
    if (answer === undefined) throw new TypeError("no connection");
    return new Response(JSON.stringify(answer));
  });
  visible.value = true;
  sourceId.value = null;
  sourceList.value = null;
  openStatus.value = null;
  summary.value = null;
  lost.value = null;
  ends = [];
});

afterEach(() => {
  for (const end of ends) end();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("the list of sources", () => {
  it("is asked for often while something moves, slowly otherwise", async () => {
    answers.sources = () => list({ scanning: true });
    ends = [pollSources()];
    await pass(5500);
    const busy = asked.length;
    answers.sources = () => list();
    await pass(1000);
    const settled = asked.length;
    await pass(4_000);
    expect(busy).toBeGreaterThanOrEqual(5);
    expect(asked.length - settled).toBe(0);
    await pass(2000);
    expect(asked.length - settled).toBe(1);
  });

  it("is not asked for while the tab is hidden, and at once when it is back", async () => {
    ends = [pollSources()];
    await pass(0);
    visible.value = false;
    await pass(120_000);
    expect(asked).toHaveLength(1);
    visible.value = true;
    await pass(0);
    expect(asked).toHaveLength(2);
  });

  it("is the same object as long as nothing changed", async () => {
    answers.sources = () => list({ scanning: true });
    ends = [pollSources()];
    await pass(0);
    const first = sourceList.value;
    await pass(3000);
    expect(asked.length).toBeGreaterThan(2);
    expect(sourceList.value).toBe(first);
  });

  it("says that the server is gone, and takes it back", async () => {
    answers = {};
    ends = [pollSources()];
    await pass(0);
    expect(lost.value).toMatch(/does not answer/);
    answers = { sources: () => list() };
    await pass(3500);
    expect(lost.value).toBeNull();
  });
});

const known = { version: "1", axes: ["event"], groupings: [], devices: [], plans: [] };

describe("a server that is gone for a while", () => {
  it("is noticed at any question, and asked anew once it has opened the source again", async () => {
    answers.open = () => status({ state: "ready", version: "1" });
    answers.summary = () => known;
    answers.breakdown = () => ({ total_bytes: 1 });
    ends = [pollSources(), followSource()];
    chooseSource("a");
    await pass(100);
    const { answer, dispose } = resource(
      () => by.value,
      (_, abort) => getBreakdown({ source: "a" } as BreakdownQuery, abort),
    );
    ends.push(dispose);
    await pass(100);
    const before = answers;
    answers = {};
    by.value = "op";
    await pass(100);
    expect(answer.value.error).toMatch(/does not answer/);
    expect(lost.value).toMatch(/Trying again/);
    answers = before;
    await pass(4000);
    expect(lost.value).toBeNull();
    expect(answer.value).toEqual({ data: { total_bytes: 1 }, error: null, loading: false });
  });

  it("is not asked all the time where one question only goes unanswered", async () => {
    answers.sources = () => list();
    answers.open = () => status({ state: "ready", version: "1" });
    answers.summary = () => known;
    ends = [pollSources(), followSource()];
    chooseSource("a");
    await pass(100);
    const { dispose } = resource(
      () => by.value,
      (_, abort) => getBreakdown({ source: "a" } as BreakdownQuery, abort),
    );
    ends.push(dispose);
    await pass(10_000);
    const times = asked.filter((route) => route === "breakdown").length;
    expect(times).toBeGreaterThan(2);
    expect(times).toBeLessThan(9);
  });
});

describe("opening a source", () => {
  it("asks until it is read, then for the summary", async () => {
    let fraction = 0;
    answers.open = () => {
      fraction += 0.25;
      return fraction < 1
        ? status({ fraction, phase: "events" })
        : status({ state: "ready", version: "1" });
    };
    answers.summary = () => known;
    ends = [followSource()];
    chooseSource("a");
    await pass(100);
    expect(openStatus.value).toMatchObject({ state: "reading", phase: "events" });
    expect(summary.value).toBeNull();
    await pass(2000);
    expect(summary.value?.version).toBe("1");
    expect(asked.filter((route) => route === "open")).toHaveLength(4);
  });

  it("asks for the summary at once where the list says it is read, and again if it is another", async () => {
    let version = "1";
    answers.open = () => status({ state: "ready", version: "2" });
    answers.summary = () => {
      const told = { ...known, version };
      version = "2";
      return told;
    };
    ends = [followSource()];
    sourceList.value = list({ sources: [file({ state: "ready" })] });
    chooseSource("a");
    await pass(0);
    expect(asked.slice(0, 2).sort()).toEqual(["open", "summary"]);
    expect(summary.value?.version).toBe("2");
    expect(asked.filter((route) => route === "summary")).toHaveLength(2);
  });

  it("keeps the error in the server's words, until asked to try again", async () => {
    answers.open = () => status({ state: "error", error: "r/n is cut off." });
    ends = [followSource()];
    chooseSource("a");
    await pass(5000);
    expect(openStatus.value?.error).toBe("r/n is cut off.");
    expect(asked.filter((route) => route === "open")).toHaveLength(1);
    answers.open = () => status({ state: "ready", version: "1" });
    answers.summary = () => known;
    reopen();
    await pass(0);
    expect(summary.value?.version).toBe("1");
  });

  it("looks again at a file that was written to, and only then", async () => {
    let version = "1";
    answers.open = () => status({ state: "ready", version });
    answers.summary = () => ({ ...known, version });
    ends = [followSource()];
    sourceList.value = list({ sources: [file()] });
    chooseSource("a");
    await pass(0);
    sourceList.value = list({ sources: [file({ live: true })] });
    await pass(0);
    expect(asked.filter((route) => route === "open")).toHaveLength(1);
    version = "2";
    sourceList.value = list({ sources: [file({ modified_ns: 2 })] });
    await pass(0);
    expect(summary.value?.version).toBe("2");
  });

  it("goes on when the server is back", async () => {
    answers = {};
    ends = [pollSources(), followSource()];
    chooseSource("a");
    await pass(100);
    expect(lost.value).not.toBeNull();
    answers = {
      sources: () => list(),
      open: () => status({ state: "ready", version: "1" }),
      summary: () => known,
    };
    await pass(4000);
    expect(summary.value?.version).toBe("1");
  });

  it("forgets the answer about a source that is no longer selected", async () => {
    answers.open = () => status({ state: "reading" });
    ends = [followSource()];
    chooseSource("a");
    await pass(300);
    answers.open = () => status({ state: "error", error: "about b" });
    chooseSource("b");
    await pass(300);
    expect(openStatus.value?.error).toBe("about b");
  });
});
