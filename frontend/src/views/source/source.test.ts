import { expect, it } from "vitest";
import { lineTerm } from "./model";

it("filters by one line of one file", () => {
  const term = lineTerm("/home/me/a+b.py", 4);
  expect(term).toBe("stack:/ \\/home\\/me\\/a\\+b\\.py:4$/");
  const expression = new RegExp(term.slice("stack:/".length, -1));
  expect(expression.test("forward /home/me/a+b.py:4")).toBe(true);
  expect(expression.test("forward /home/me/a+b.py:44")).toBe(false);
});
