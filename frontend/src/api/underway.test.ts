import { effect, signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { during, later, underway } from "./underway";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("what is under way", () => {
  it("is work until it ends, good or bad", async () => {
    let resolve = (_value: number): void => undefined;
    let reject = (_error: Error): void => undefined;
    const good = during(new Promise<number>((done) => (resolve = done)));
    const bad = during(new Promise<number>((_, fail) => (reject = fail)));
    expect(underway.value).toBe(2);
    resolve(7);
    expect(await good).toBe(7);
    expect(underway.value).toBe(1);
    reject(new Error("no"));
    await expect(bad).rejects.toThrow("no");
    expect(underway.value).toBe(0);
  });

  it("is a pause until what follows has been done", () => {
    const seen: number[] = [];
    later(() => seen.push(underway.value), 40);
    vi.advanceTimersByTime(39);
    expect([underway.value, seen]).toEqual([1, []]);
    vi.advanceTimersByTime(1);
    expect([underway.value, seen]).toEqual([0, [1]]);
  });

  it("is not a pause that was called off, nor called off again or too late", () => {
    const run = vi.fn();
    const stop = later(run, 40);
    stop();
    stop();
    expect(underway.value).toBe(0);
    const tooLate = later(run, 40);
    vi.advanceTimersByTime(100);
    tooLate();
    expect([underway.value, run.mock.calls.length]).toEqual([0, 1]);
  });

  it("does not run an effect again that only counts", () => {
    const asked = signal(0);
    let runs = 0;
    const end = effect(() => {
      asked.value;
      runs += 1;
      return later(() => undefined, 40);
    });
    asked.value = 1;
    vi.advanceTimersByTime(100);
    end();
    expect([runs, underway.value]).toEqual([2, 0]);
  });
});
