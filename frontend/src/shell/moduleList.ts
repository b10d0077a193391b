/** Plans as the list of modules has them: one a module, whole programs first, the largest first. */

import type { PlanListed } from "../api";

/** What JAX and TensorFlow call the programs that users write. */
const PROGRAM = /^(jit|pjit|pmap|xmap|cluster)_/;
const isProgram = ({ module }: PlanListed): boolean => PROGRAM.test(module);

const program = ({ module, program }: PlanListed): string => `${module}(${program})`;

/** Of every module the plan of its highest peak. */
export function listedPlans(plans: readonly PlanListed[]): PlanListed[] {
  const highest = new Map<string, PlanListed>();
  for (const one of plans) {
    const known = highest.get(program(one));
    if (!known || one.peak > known.peak) highest.set(program(one), one);
  }
  return [...highest.values()].sort(
    (a, b) => Number(isProgram(b)) - Number(isProgram(a)) || b.peak - a.peak,
  );
}

/** Its name, with the program's id where another module is called alike. */
export function nameOf(one: PlanListed, modules: readonly PlanListed[]): string {
  const alike = modules.filter(({ module }) => module === one.module).length;
  return alike > 1 ? program(one) : one.module;
}

export function matchingPlans(modules: readonly PlanListed[], search: string): PlanListed[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return modules.filter((one) => words.every((word) => program(one).toLowerCase().includes(word)));
}
