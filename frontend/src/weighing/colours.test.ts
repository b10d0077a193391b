import { expect, it } from "vitest";
import type { FlameFrames } from "../api";
import { frameColours, inkOn, moduleOf } from "./colours";

const FRAMES = {
  kind: ["own", "library", "library", "folded", "before", "smaller", "library"],
  function: ["main", "linear", "sin", null, null, null, "at::mm"],
  file: [
    "/home/me/train.py",
    "/env/site-packages/torch/nn/functional.py",
    "/env/site-packages/numpy/core.py",
    null,
    null,
    null,
    "",
  ],
} as FlameFrames;

it("tells own code from libraries, and both from what is no frame", () => {
  const colours = frameColours(FRAMES, "code", "light");
  expect(new Set(colours).size).toBe(4);
  expect(colours[1]).toBe(colours[2]);
  expect(colours[1]).toBe(colours[3]);
});

it("tells modules apart", () => {
  expect([0, 1, 2, 6].map((frame) => moduleOf(FRAMES, frame))).toEqual([
    "train.py",
    "torch",
    "numpy",
    "libraries",
  ]);
  const colours = frameColours(FRAMES, "module", "dark");
  expect(new Set([0, 1, 2].map((frame) => colours[frame])).size).toBe(3);
});

it("writes so that it can be read", () => {
  expect(inkOn("#ffffff")).toBe("#1a1a1a");
  expect(inkOn("#f2a65a")).toBe("#1a1a1a");
  expect(inkOn("#222222")).toBe("#ffffff");
});
