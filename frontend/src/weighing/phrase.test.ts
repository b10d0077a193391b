import { expect, it } from "vitest";
import type { FlameFrames } from "../api";
import { expressionOf, withTerm } from "./phrase";

const FRAMES = {
  kind: ["own", "folded", "library", "library"],
  function: ["main", null, "operator()[abi](int*)", "long…"],
  file: ["/home/me/train.py", null, "", "a.cc"],
  line: [41, null, 0, 3],
} as FlameFrames;

it("is an expression that the frame alone matches", () => {
  expect(expressionOf(FRAMES, 0)).toBe("/^main \\/home\\/me\\/train\\.py:41$/");
  const expression = expressionOf(FRAMES, 2)?.slice(1, -1) ?? "";
  expect(new RegExp(expression).test("operator()[abi](int*) :0")).toBe(true);
  expect(new RegExp(expression).test("operator()[abi](int*) :01")).toBe(false);
});

it("is the beginning of a name that was cut", () => {
  expect(expressionOf(FRAMES, 3)).toBe("/^long/");
});

it("is nothing for what is not one frame", () => {
  expect(expressionOf(FRAMES, 1)).toBeNull();
});

it("is added to a filter once", () => {
  expect(withTerm("", "stack:/a/")).toBe("stack:/a/");
  expect(withTerm("size>1MiB", "stack:/a/")).toBe("size>1MiB stack:/a/");
  expect(withTerm("size>1MiB stack:/a/", "stack:/a/")).toBe("size>1MiB stack:/a/");
});
