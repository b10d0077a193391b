import { expect, it } from "vitest";
import type { PlanListed } from "../api";
import { listedPlans, matchingPlans, tellingId } from "./moduleList";

const plan = (module: string, program: string, peak: number, space = "HBM"): PlanListed => ({
  key: `plan:${module}${program}${space}`,
  module,
  program,
  space,
  peak,
  total: peak,
  events: 1,
  compiler_peak: peak,
});

const ALL = [
  plan("main", "1", 900),
  plan("jit_step", "2", 100),
  plan("jit_step", "2", 300, "host"),
  plan("jit_step", "3", 200),
  plan("jit_loss", "4", 250),
];

it("has every module once, at its highest peak, programs of the user first", () => {
  const found = listedPlans(ALL).map(({ module, program, peak }) => [module, program, peak]);
  expect(found).toEqual([
    ["jit_step", "2", 300],
    ["jit_loss", "4", 250],
    ["jit_step", "3", 200],
    ["main", "1", 900],
  ]);
});

it("tells modules that are called alike apart by their programs", () => {
  const modules = listedPlans(ALL);
  expect(modules.map((one) => tellingId(one, modules))).toEqual(["2", "", "3", ""]);
  const long = [plan("jit_f", "12190760917235803885", 1), plan("jit_f", "9646411105960254074", 1)];
  expect(long.map((one) => tellingId(one, long))).toEqual(["…3885", "…4074"]);
});

it("finds modules by parts of their names and programs", () => {
  const modules = listedPlans(ALL);
  const found = (search: string) => matchingPlans(modules, search).map(({ program }) => program);
  expect(found("STEP (3")).toEqual(["3"]);
  expect(found("jit lo")).toEqual(["4"]);
  expect(found("nothing")).toEqual([]);
  expect(found("")).toHaveLength(4);
});
