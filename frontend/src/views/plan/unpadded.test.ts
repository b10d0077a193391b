import { describe, expect, it } from "vitest";
import type { Usage } from "../../api";
import { unpaddedLine } from "./unpadded";

const numbers = (...values: number[]) => Float64Array.from(values);

const curveOf = (event: number[], size: number[], unpadded: number[]) => ({
  event: numbers(...event),
  size: numbers(...size),
  unpadded: numbers(...unpadded),
  instruction: event.map((at) => `of ${at}`),
});

/** Three bins of two events from event 10 on; the last has no row. */
function usageOf(...level: number[]): Usage {
  const window = { axis: "event", begin: 10, end: 16, bin: 2, by: "region", groups: [], areas: [] };
  const begin = Float64Array.from(level, (_, row) => 10 + 2 * row);
  return { window, begin, level: numbers(...level), length: level.length } as unknown as Usage;
}

describe("the line without padding", () => {
  it("has the bytes of the same bin, and none where they are no others", () => {
    const usage = usageOf(100, 80);
    const curve = curveOf([10, 12, 14], [100, 80, 60], [40, 80, 1]);
    const line = unpaddedLine(usage, curve);
    expect([line.at(usage, 0), line.at(usage, 1)]).toEqual([40, null]);
    expect(line.isSeen).toBe(true);
  });

  it("says nothing where the highest of a bin is another moment, nor of another answer", () => {
    const usage = usageOf(100, 80);
    const curve = curveOf([10, 12], [90, 80], [40, 79.99]);
    const line = unpaddedLine(usage, curve);
    expect(line.at(usage, 0)).toBeNull();
    expect(line.at(usageOf(90, 80), 0)).toBeNull();
  });

  it("names the instruction of the event that a row shows, and of no other", () => {
    const usage = { ...usageOf(100, 80), event: numbers(11, 12) };
    const line = unpaddedLine(usage, curveOf([11, 13], [100, 80], [100, 80]));
    expect([line.of(usage, 0), line.of(usage, 1)]).toEqual(["of 11", null]);
    expect(line.of({ ...usage }, 0)).toBeNull();
  });

  it("is no entry of the legend where the difference cannot be seen", () => {
    const usage = usageOf(1000, 1000);
    const curve = curveOf([10, 12], [1000, 1000], [999, 1000]);
    expect(unpaddedLine(usage, curve).isSeen).toBe(false);
  });
});
