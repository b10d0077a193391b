import { describe, expect, it } from "vitest";
import { ariaSort, nextSort } from "./sorting";

describe("sorting", () => {
  it("starts the useful way and turns round on the second click", () => {
    expect(nextSort("-bytes", "bytes", false)).toBe("bytes");
    expect(nextSort("bytes", "bytes", false)).toBe("-bytes");
    expect(nextSort("-bytes", "label", true)).toBe("label");
    expect(nextSort("label", "duration", false)).toBe("-duration");
  });
  it("is told to screen readers", () => {
    expect(ariaSort("-bytes", "bytes")).toBe("descending");
    expect(ariaSort("bytes", "bytes")).toBe("ascending");
    expect(ariaSort("bytes", "birth")).toBe("none");
  });
});
