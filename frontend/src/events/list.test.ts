import { computed } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Device, EventPage, Summary } from "../api";
import { cursor, deviceKey, eventFilter, filter, sourceId, summary, visible } from "../state";
import { createList } from "./list";
import { ROW } from "./scaling";

const EVENTS = 1000;
let asked: URLSearchParams[] = [];
let list: ReturnType<typeof createList>;

/** A server whose filter `even` lets every second event pass; any other filter is refused. */
function fakeFetch(url: string): Promise<Response> {
  const query = new URLSearchParams(url.split("?")[1]);
  asked.push(query);
  const filter = query.get("filter");
  if (filter && filter !== "even" && filter !== "even even")
    return Promise.resolve(new Response('{"error": "No such filter."}', { status: 400 }));
  const passing = Array.from({ length: EVENTS }, (_, event) => event).filter(
    (event) => !filter || event % 2 === 0,
  );
  const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
  const rows = passing.slice(offset, offset + limit).map((event) => ({ event, action: "alloc" }));
  const page = { device: "0", events: EVENTS, count: passing.length, offset, rows } as EventPage;
  const near = query.get("near");
  if (near !== null) {
    const row = passing.filter((event) => event < Number(near)).length;
    page.near = { event: Number(near), row, passes: passing[row] === Number(near) };
  }
  return Promise.resolve(new Response(JSON.stringify(page)));
}

const settle = () => vi.advanceTimersByTimeAsync(100);
const chunks = () => asked.filter((query) => query.get("limit") === "200");

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", fakeFetch);
  asked = [];
  sourceId.value = "a";
  deviceKey.value = "0";
  const device = { key: "0", events: EVENTS, peak_event: 7 } as Device;
  summary.value = { version: "1", devices: [device], axes: ["event"] } as unknown as Summary;
  cursor.value = 10;
  list = createList(computed(() => cursor.value ?? 7));
  list.seen.value = 10 * ROW;
  await settle();
});

afterEach(() => {
  list.dispose();
  eventFilter.value = "";
  filter.value = "";
  summary.value = null;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the list of events", () => {
  it("asks for what is in view, once", async () => {
    expect(list.count.value).toBe(EVENTS);
    expect(chunks().map((query) => query.get("offset"))).toEqual(["0"]);
    list.top.value = 195;
    await settle();
    list.top.value = 0;
    await settle();
    expect(chunks().map((query) => query.get("offset"))).toEqual(["0", "200"]);
    expect(list.rowAt(203)?.event).toBe(203);
  });

  it("goes nowhere once another recording is shown", async () => {
    void list.go(900);
    sourceId.value = "b";
    await settle();
    expect(cursor.value).toBe(10);
  });

  it("steps to the next event and back, as far as there are any", async () => {
    list.step(1);
    await settle();
    expect(cursor.value).toBe(11);
    list.step(-4);
    await settle();
    expect(cursor.value).toBeNull(); // event 7 is the peak
    expect(list.current.value?.event).toBe(7);
    list.step(-100);
    await settle();
    expect(cursor.value).toBe(0);
    await list.go(EVENTS + 5);
    await settle();
    expect(cursor.value).toBe(EVENTS - 1);
    expect(list.top.value).toBeCloseTo(EVENTS - 10);
  });

  it("loses no key press while an answer is on its way", async () => {
    for (let press = 0; press < 5; press++) list.step(1);
    await settle();
    await settle();
    expect(cursor.value).toBe(15);
  });

  it("loses no key press while the row to go to is on its way", async () => {
    list.step(600);
    for (let press = 0; press < 5; press++) list.step(1);
    await settle();
    await settle();
    expect(cursor.value).toBe(615);
  });

  it("goes where it was told last, whichever row comes first", async () => {
    void list.go(900);
    void list.go(3);
    await settle();
    expect(cursor.value).toBe(3);
    list.step(1);
    await settle();
    expect(cursor.value).toBe(4);
  });

  it("steps on after a row could not be had", async () => {
    const refused = vi.fn(() => Promise.resolve(new Response('{"error": "No."}', { status: 400 })));
    vi.stubGlobal("fetch", refused);
    list.step(600);
    list.step(1);
    await settle();
    expect([cursor.value, list.failure.value]).toEqual([10, "No."]);
    expect(refused).toHaveBeenCalledTimes(1);
    vi.stubGlobal("fetch", fakeFetch);
    list.step(600);
    await settle();
    expect(cursor.value).toBe(610);
  });

  it("steps from beside the filter to the nearest that passes", async () => {
    eventFilter.value = "even";
    cursor.value = 13;
    await settle();
    expect([list.count.value, list.passes.value]).toEqual([500, false]);
    list.step(1);
    await settle();
    expect(cursor.value).toBe(14);
    cursor.value = 13;
    await settle();
    list.step(-1);
    await settle();
    expect(cursor.value).toBe(12);
  });

  it("steps from before the first event to the first", async () => {
    cursor.value = -1;
    await settle();
    expect(list.current.value).toBeNull();
    list.step(1);
    await settle();
    expect(cursor.value).toBe(0);
  });

  it("asks for no rows of a filter that is refused, and says why", async () => {
    const before = chunks().length;
    eventFilter.value = "odd";
    await settle();
    expect(list.failure.value).toBe("No such filter.");
    expect(chunks()).toHaveLength(before);
    eventFilter.value = "even";
    await settle();
    expect(list.failure.value).toBeNull();
    expect(list.rowAt(3)?.event).toBe(6);
  });

  it("lists what passes the filter of all views and its own", async () => {
    filter.value = "even";
    await settle();
    expect(list.count.value).toBe(500);
    eventFilter.value = "even";
    await settle();
    expect([list.filter.value, list.count.value]).toEqual(["even even", 500]);
    filter.value = "odd";
    await settle();
    expect(list.failure.value).toBe("No such filter.");
  });

  it("asks for nothing while the tab is hidden", async () => {
    const before = asked.length;
    visible.value = false;
    list.top.value = 600;
    cursor.value = 500;
    await settle();
    expect(asked).toHaveLength(before);
    visible.value = true;
    await settle();
    expect(list.rowAt(500)?.event).toBe(500);
  });
});
