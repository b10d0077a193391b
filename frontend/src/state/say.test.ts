import { afterEach, describe, expect, it } from "vitest";
import { say } from "./say";
import { deviceKey } from "./view";

afterEach(() => {
  deviceKey.value = null;
});

describe("words of what is looked at", () => {
  it("are an allocator's of a device, and the compiler's of a plan", () => {
    deviceKey.value = "0";
    expect([say("Blocks"), say("allocated (size)")]).toEqual(["Blocks", "allocated (size)"]);
    deviceKey.value = "plan:3";
    expect([say("Blocks"), say("allocated (size)")]).toEqual(["Buffers", "in use"]);
    expect([say("Region"), say("module"), say("Requested")]).toEqual([
      "Kind",
      "computation",
      "Unpadded",
    ]);
    expect(say("category")).toBe("category");
  });
});
