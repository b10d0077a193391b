import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Summary } from "../api";
import { deviceKey, selection, sourceId, summary } from "../state";
import { breakdown, tables } from "./questions";

let asked: string[] = [];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response('{"groups": []}');
  });
  sourceId.value = "s";
  deviceKey.value = "0";
  summary.value = { version: "1", devices: [{ key: "0" }] } as unknown as Summary;
});

afterEach(() => {
  tables.value = 0;
  selection.value = null;
  summary.value = null;
  vi.unstubAllGlobals();
});

it("asks for the breakdown only where a table or the details of a group show it", async () => {
  expect(asked).toEqual([]);
  tables.value = 1;
  await vi.waitFor(() => expect(breakdown.value.data).toEqual({ groups: [] }));
  expect(asked).toHaveLength(1);
  tables.value = 0;
  expect(breakdown.value.data).toBeNull();
  selection.value = { kind: "group", by: "stack", key: "k" };
  await vi.waitFor(() => expect(breakdown.value.data).not.toBeNull());
  expect(asked).toHaveLength(2);
});
