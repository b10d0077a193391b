import { beforeEach, expect, it } from "vitest";
import { argument } from "./grouping";
import { by, cursor, pattern } from "./view";

beforeEach(() => {
  by.value = "category";
  cursor.value = null;
  pattern.value = "conv";
});

it("is nothing to most groupings", () => {
  cursor.value = 7;
  expect(argument.value).toBe("");
});

it("is what was typed for patterns", () => {
  by.value = "pattern";
  expect(argument.value).toBe("conv");
});

it("is the moment that ages are told at", () => {
  by.value = "age";
  expect(argument.value).toBe("peak");
  cursor.value = 0;
  expect(argument.value).toBe("0");
  cursor.value = -1;
  expect(argument.value).toBe("-1");
});
