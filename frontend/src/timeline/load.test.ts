import { signal } from "@preact/signals";
import { tableFromArrays, tableToIPC } from "@uwdata/flechette";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Axis, Summary } from "../api";
import { by, deviceKey, sourceId, summary, visible } from "../state";
import { createLoader, type Loader } from "./load";
import type { Range } from "./scale";

/** A request as the fake server got it. */
interface Asked {
  readonly route: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
  answer(status?: number): void;
}

let asked: Asked[] = [];
let loader: Loader;
const whole = { begin: 0, end: 1 << 20 };
const window = signal<Range>(whole);
const axis = signal<Axis>("event");

function usageBody(query: URLSearchParams): Uint8Array<ArrayBuffer> {
  const begin = Number(query.get("begin"));
  const table = tableFromArrays({
    begin: [BigInt(begin)],
    end: [BigInt(begin + 1)],
    event: [BigInt(begin)],
    allocated: [5n],
    g0: [5n],
  });
  const range = { begin, end: Number(query.get("end")), bin: 1, by: query.get("by") };
  const groups = [{ key: "a", label: "a" }];
  const described = { axis: query.get("axis"), ...range, groups, has_reserved: false };
  table.schema.metadata = new Map([["window", JSON.stringify(described)]]);
  return tableToIPC(table, { format: "stream" }) as Uint8Array<ArrayBuffer>;
}

function fakeFetch(url: string, init: RequestInit): Promise<Response> {
  const [path = "", query = ""] = url.split("?");
  const route = path.slice(2);
  return new Promise((resolve) => {
    const parameters = new URLSearchParams(query);
    const answer = (status = 200) => {
      if (status !== 200) return resolve(new Response('{"error": "It is gone."}', { status }));
      const tracks = '{"steps": [], "annotations": [], "marks": [], "hidden": 0}';
      resolve(new Response(route === "usage" ? usageBody(parameters) : tracks));
    };
    asked.push({ route, query: parameters, signal: init.signal as AbortSignal, answer });
  });
}

const usages = () => asked.filter(({ route }) => route === "usage");

/** Lets timers and promises run, without any real waiting. */
const settle = () => vi.advanceTimersByTimeAsync(200);

async function answerAll(): Promise<void> {
  await settle();
  for (const each of asked) each.answer();
  await settle();
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", fakeFetch);
  asked = [];
  window.value = whole;
  axis.value = "event";
  visible.value = true;
  by.value = "stack";
  deviceKey.value = "0";
  sourceId.value = "s";
  const devices = [{ key: "0" }, { key: "1" }];
  summary.value = { version: "1", devices } as unknown as Summary;
  loader = createLoader({ axis, whole: signal(whole), window, width: signal(1000) });
});

afterEach(() => {
  loader.dispose();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the loader", () => {
  it("asks for the whole at a bin a pixel or finer, and for the tracks", async () => {
    await answerAll();
    expect(asked.map(({ route }) => route).sort()).toEqual(["tracks", "usage"]);
    const query = usages()[0]?.query;
    expect([query?.get("begin"), query?.get("end"), query?.get("width")]).toEqual([
      "0",
      "1048576",
      "1024",
    ]);
    expect(query?.get("version")).toBe("1");
    expect(loader.detail.value?.length).toBe(1);
    expect(loader.whole.value).toBe(loader.detail.value);
    expect(loader.loading.value).toBe(false);
  });

  it("asks nothing while something else is wanted first", async () => {
    loader.dispose();
    asked = [];
    const isHeld = signal(true);
    loader = createLoader({ axis, whole: signal(whole), window, width: signal(1000), isHeld });
    await settle();
    expect(asked).toHaveLength(0);
    isHeld.value = false;
    await settle();
    expect(asked.map(({ route }) => route).sort()).toEqual(["tracks", "usage"]);
  });

  it("asks for tracks no wider than the server answers, however far it is zoomed", async () => {
    window.value = { begin: 300_000, end: 300_003 };
    await answerAll();
    const widths = asked.map(({ query }) => Number(query.get("width")));
    expect(Math.max(...widths)).toBe(16_384);
  });

  it("asks for the whole too when a link opens on a part of it", async () => {
    loader.dispose();
    asked = [];
    window.value = { begin: 200_000, end: 300_000 };
    loader = createLoader({ axis, whole: signal(whole), window, width: signal(1000) });
    await answerAll();
    expect(usages().length).toBe(2);
    expect(loader.whole.value?.window.begin).toBe(0);
    expect(loader.detail.value?.window.begin).toBeGreaterThan(0);
  });

  it("does not ask again for what it has", async () => {
    await answerAll();
    window.value = { begin: 200_000, end: 300_000 };
    await answerAll();
    const count = asked.length;
    window.value = { begin: 203_000, end: 303_000 };
    await settle();
    window.value = whole;
    await settle();
    expect(asked.length).toBe(count);
    expect(loader.detail.value?.window.begin).toBe(0);
  });

  it("keeps the last picture while the next loads, and calls off what is out of date", async () => {
    await answerAll();
    const first = loader.detail.value;
    window.value = { begin: 100_000, end: 110_000 };
    await settle();
    const stale = usages().at(-1);
    window.value = { begin: 500_000, end: 510_000 };
    await settle();
    expect(stale?.signal.aborted).toBe(true);
    expect(loader.detail.value).toBe(first);
    expect(loader.loading.value).toBe(true);
    usages().at(-1)?.answer();
    await settle();
    stale?.answer();
    await settle();
    expect(loader.detail.value?.window.begin).toBeGreaterThan(490_000);
  });

  it("asks once for a gesture of many steps", async () => {
    await answerAll();
    const count = usages().length;
    for (let step = 1; step < 30; step++)
      window.value = { begin: step * 20_000, end: step * 20_000 + 9_000 };
    await settle();
    expect(usages().length).toBe(count + 1);
  });

  it("shows no picture of another device or axis", async () => {
    await answerAll();
    deviceKey.value = "1";
    expect(loader.detail.value).toBeNull();
    await answerAll();
    expect(usages().at(-1)?.query.get("device")).toBe("1");
    axis.value = "time";
    expect(loader.detail.value).toBeNull();
  });

  it("keeps the picture for another grouping or version until that is there", async () => {
    await answerAll();
    by.value = "op";
    expect(loader.detail.value).not.toBeNull();
    await answerAll();
    expect(loader.detail.value?.window.by).toBe("op");
    summary.value = { ...(summary.value as Summary), version: "2" };
    expect(loader.detail.value).not.toBeNull();
    await settle();
    expect(usages().at(-1)?.query.get("version")).toBe("2");
  });

  it("says what went wrong and tries again when told to", async () => {
    await settle();
    for (const each of asked) each.answer(404);
    await settle();
    expect(loader.failure.value).toBe("It is gone.");
    const count = asked.length;
    loader.retry();
    expect(loader.failure.value).toBeNull();
    await settle();
    expect(asked.length).toBeGreaterThan(count);
    await answerAll();
    expect(loader.detail.value).not.toBeNull();
  });

  it("does not take what did come for what did not", async () => {
    await settle();
    for (const each of usages()) each.answer(404);
    await settle();
    for (const each of asked) each.answer();
    await settle();
    expect(loader.tracks.value).not.toBeNull();
    expect(loader.failure.value).toBe("It is gone.");
    axis.value = "time";
    expect(loader.failure.value).toBeNull();
  });

  it("asks nothing while the page is hidden", async () => {
    await answerAll();
    const count = asked.length;
    visible.value = false;
    window.value = { begin: 100_000, end: 110_000 };
    await settle();
    expect(asked.length).toBe(count);
    visible.value = true;
    await settle();
    expect(asked.length).toBeGreaterThan(count);
  });
});
