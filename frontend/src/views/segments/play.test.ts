import { signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Usage } from "../../api";
import type { Model as Timeline } from "../../timeline/model";
import { createPlayer, nextEvent, strideFor } from "./play";

/** A usage answer on the event axis whose rows show the events given. */
function usage(events: readonly number[]): Usage {
  const none = new Float64Array(events.length);
  return {
    window: { axis: "event", bin: 10 } as Usage["window"],
    length: events.length,
    begin: Float64Array.from(events, (event) => Math.floor(event / 10) * 10),
    end: Float64Array.from(events, (event) => Math.floor(event / 10) * 10 + 10),
    event: Float64Array.from(events),
    time: none,
    allocated: none,
    reserved: none,
    reservedMax: none,
    level: none,
    fragmentation: none,
    groups: [],
  };
}

describe("playing", () => {
  const shown = usage([3, 14, 27, 31, 48, 55]);
  const all = { begin: 0, end: 60 };

  it("goes from moment to moment, and ends with the last", () => {
    expect(nextEvent(shown, all, null, 1)).toBe(3);
    expect(nextEvent(shown, all, 3, 1)).toBe(14);
    expect(nextEvent(shown, all, 20, 1)).toBe(27);
    expect(nextEvent(shown, all, 55, 1)).toBeNull();
  });

  it("strides over several where there are many, but never past the end", () => {
    expect(nextEvent(shown, all, 3, 3)).toBe(31);
    expect(nextEvent(shown, all, 31, 100)).toBe(55);
  });

  it("stays in the window", () => {
    const part = { begin: 20, end: 40 };
    expect(nextEvent(shown, part, null, 1)).toBe(27);
    expect(nextEvent(shown, part, 3, 9)).toBe(31);
    expect(nextEvent(shown, part, 31, 1)).toBeNull();
  });

  it("takes as long for a window of many moments as for one of fewer", () => {
    const many = usage(Array.from({ length: 4000 }, (_, at) => at * 10));
    const whole = { begin: 0, end: 40_000 };
    expect(strideFor(many, whole, 1)).toBe(20);
    expect(strideFor(many, { begin: 0, end: 19_999 }, 1)).toBe(10);
    expect(strideFor(many, whole, 4)).toBe(80);
    expect(strideFor(shown, all, 0.25)).toBe(1);
  });
});

describe("the player", () => {
  const detail = signal<Usage | null>(null);
  const event = signal<number | null>(55);
  const timeline = {
    loader: { detail },
    window: signal({ begin: 0, end: 60 }),
    cursorEvent: event,
    cursorPlace: event,
    setCursor: (next: number) => (event.value = next),
  } as unknown as Timeline;

  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("begins as soon as the curve is there, at the beginning where it was at the end", () => {
    const player = createPlayer(timeline, () => false);
    player.toggle();
    vi.advanceTimersByTime(300);
    expect([player.playing.value, event.value]).toEqual([true, 55]);
    detail.value = usage([3, 14, 27, 31, 48, 55]);
    vi.advanceTimersByTime(100);
    expect(event.value).toBe(3);
    vi.advanceTimersByTime(100);
    expect(event.value).toBe(14);
    player.toggle();
    vi.advanceTimersByTime(300);
    expect([player.playing.value, event.value]).toEqual([false, 14]);
    player.toggle();
    vi.advanceTimersByTime(100);
    expect(event.value).toBe(27);
    vi.advanceTimersByTime(1000);
    expect([player.playing.value, event.value]).toEqual([false, 55]);
    player.dispose();
  });
});
