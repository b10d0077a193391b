/** Plans as the list of modules has them: one a module, whole programs first, the largest first. */

import type { PlanListed } from "../api";

/** What JAX and TensorFlow call the programs that users write. */
const PROGRAM = /^(jit|pjit|pmap|xmap|cluster)_/;
/** Digits of an id that tell programs apart. */
const ENOUGH = 4;

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

/** The program's id, its end of a long one, where another module is called alike; else nothing. */
export function tellingId(one: PlanListed, modules: readonly PlanListed[]): string {
  const alike = modules.filter(({ module }) => module === one.module);
  if (alike.length < 2) return "";
  return one.program.length > ENOUGH ? `…${one.program.slice(-ENOUGH)}` : one.program;
}

export function matchingPlans(modules: readonly PlanListed[], search: string): PlanListed[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return modules.filter((one) => words.every((word) => program(one).toLowerCase().includes(word)));
}
