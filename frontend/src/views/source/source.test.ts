import { expect, it } from "vitest";
import { isIn, lineTerm } from "./model";

it("filters by one line of one file", () => {
  const term = lineTerm("/home/me/a+b.py", 4);
  expect(term).toBe("stack:/ \\/home\\/me\\/a\\+b\\.py:4$/");
  const expression = new RegExp(term.slice("stack:/".length, -1));
  expect(expression.test("forward /home/me/a+b.py:4")).toBe(true);
  expect(expression.test("forward /home/me/a+b.py:44")).toBe(false);
});

it("finds a stack in a file, and in a line of it", () => {
  const stack = [{ function: "main", file: "/home/me/a.py", line: 4, library: false }];
  expect(isIn(stack, "/home/me/a.py")).toBe(true);
  expect(isIn(stack, "/home/me/a.py", 4)).toBe(true);
  expect(isIn(stack, "/home/me/a.py", 5)).toBe(false);
  expect(isIn(stack, "/home/me/a.py", null)).toBe(false);
  expect(isIn(stack, "/home/you/a.py", 4)).toBe(false);
});
