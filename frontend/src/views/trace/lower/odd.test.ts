import { expect, it } from "vitest";
import type { StepSum } from "../../../api";
import { oddOne } from "./odd";

const step = (id: string, other: Partial<StepSum> = {}): StepSum => ({
  id,
  name: id,
  kind: "step",
  track: "0",
  depth: 0,
  begin: 0,
  end: 10,
  open: null,
  step: null,
  before: 100,
  peak: 1000,
  after: 100,
  allocated: 5000,
  freed: 5000,
  ...other,
});

it("finds the step that differs, and none where all are alike or too few", () => {
  const same = ["a", "b", "c", "d"].map((id) => step(id));
  expect(oddOne(same)).toBeNull();
  expect(oddOne([...same, step("e", { peak: 1500 })])).toBe("e");
  expect(oddOne([...same, step("e", { allocated: 4000 }), step("f", { peak: 1100 })])).toBe("e");
  expect(oddOne([...same, step("e", { after: 200 })])).toBe("e");
  expect(oddOne([...same, step("e", { peak: 1005 })])).toBeNull();
  expect(oddOne([...same, step("e", { end: 13 })])).toBe("e");
  expect(oddOne([...same, step("e", { end: 10.4 })])).toBeNull();
  expect(oddOne([...same, step("e", { end: 13 }), step("f", { peak: 1500 })])).toBe("f");
  expect(oddOne([step("a"), step("b", { peak: 2000 })])).toBeNull();
  expect(oddOne([])).toBeNull();
});
