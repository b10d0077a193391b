import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PairState, Proposed, Source, SourceList } from "../api";
import { openStatus, sourceId, sourceList } from "../state/recording";
import { visible } from "../state/visible";
import { compare, followPairs, proposals } from "./pairs";

let asked: string[];
let states: PairState[];
let end: () => void;

const proposed = (state: PairState): Proposed =>
  ({
    pair: "ab",
    snapshot: "a",
    trace: "b",
    state,
    fraction: 0,
    error: null,
    match: null,
  }) as const;
const file = (id: string): Source => ({ id, run: "r", name: id }) as Source;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  states = ["unread"];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    const state = states.length > 1 ? states.shift() : states[0];
    const pairs = [proposed(state as PairState)];
    return new Response(JSON.stringify({ source: "a", hidden: 0, pairs }));
  });
  visible.value = true;
  sourceList.value = { sources: [file("a"), file("b")] } as SourceList;
  openStatus.value = { state: "ready", fraction: 1, phase: "", error: null, version: "1" };
  sourceId.value = "a";
  end = followPairs();
});

afterEach(() => {
  end();
  sourceId.value = null;
  sourceList.value = null;
  openStatus.value = null;
  proposals.value = null;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("what is of the same process", () => {
  it("is asked for once where nothing is under way", async () => {
    await wait(60_000);
    expect(asked).toHaveLength(1);
    expect(proposals.value?.[0]?.state).toBe("unread");
  });
  it("is read only when asked to, and asked after until it is known", async () => {
    await wait(0);
    states = ["reading", "matching", "matched"];
    compare("b");
    await wait(60_000);
    expect(asked).toHaveLength(4);
    expect(asked.map((url) => url.includes("match=b"))).toEqual([false, true, true, true]);
    expect(proposals.value?.[0]?.state).toBe("matched");
  });
  it("is not asked for while nobody looks, nor where there is nothing else", async () => {
    await wait(0);
    states = ["matching"];
    compare("b");
    await wait(0);
    const before = asked.length;
    visible.value = false;
    await wait(60_000);
    expect(asked).toHaveLength(before);
    sourceList.value = { sources: [file("a")] } as SourceList;
    visible.value = true;
    await wait(60_000);
    expect(asked).toHaveLength(before);
  });
});
