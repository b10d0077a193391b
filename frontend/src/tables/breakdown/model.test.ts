import { describe, expect, it } from "vitest";
import type { AllocationRow } from "../../api";
import { groupLabel, oldestWords } from "../../state/groups";
import { birthWords, sizeIn } from "./model";

const words = ({ event, time }: { event: number | null; time: number | null }): string =>
  time === null ? `event ${event}` : `at ${time}`;
const row = (over: Partial<AllocationRow>): AllocationRow => ({ ...over }) as AllocationRow;

describe("cells", () => {
  it("say when the oldest was born", () => {
    expect(oldestWords({ oldest_event: -1, oldest_step: null, oldest_time: null }, words)).toBe(
      "before",
    );
    expect(oldestWords({ oldest_event: null, oldest_step: null, oldest_time: null }, words)).toBe(
      "before",
    );
    expect(oldestWords({ oldest_event: 5, oldest_step: 0, oldest_time: 9 }, words)).toBe(
      "step\u00a00",
    );
    expect(oldestWords({ oldest_event: 5, oldest_step: null, oldest_time: null }, words)).toBe(
      "event 5",
    );
    expect(oldestWords({ oldest_event: 5, oldest_step: null, oldest_time: 7 }, words)).toBe("at 7");
  });

  it("say when one was born", () => {
    expect(birthWords(row({ birth: null, step: null }), words)).toBe("before");
    expect(birthWords(row({ birth: 3, step: 2 }), words)).toBe("step\u00a02");
    expect(birthWords(row({ birth: 3, step: null, birth_time: null }), words)).toBe("event 3");
  });

  it("count bytes in the basis of the recording", () => {
    expect(sizeIn("requested", row({ requested: 100, size: 512 }))).toBe(100);
    expect(sizeIn("size", row({ requested: 100, size: 512 }))).toBe(512);
    expect(sizeIn("size", row({ requested: 100, size: null }))).toBe(100);
  });

  it("name groups", () => {
    expect(groupLabel("optimizer state", "category")).toBe("Optimizer state");
    expect(groupLabel("aten::bmm", "op")).toBe("aten::bmm");
    expect(groupLabel("", "op")).toBe("–");
  });
});
