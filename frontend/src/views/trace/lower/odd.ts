/** Which step differs from the others. */

import type { StepSum } from "../../../api";

/** Shares by which a step differs before that is worth pointing out. */
const WORTH = 0.02;

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
};

/** How far a value is from the middle of all, as a share of that. */
const off = (value: number, middle: number): number =>
  Math.abs(value - middle) / Math.max(Math.abs(middle), 1);

/** The numbers that a step is known by. */
const NUMBERS: readonly ((step: StepSum) => number)[] = [
  ({ peak }) => peak,
  ({ allocated }) => allocated,
  ({ before, after }) => after - before,
];

/**
 * Id of the step whose peak, allocations or rise are farthest from those in the middle of all; null where all
 * are alike, and where there are too few to say who is the odd one.
 */
export function oddOne(steps: readonly StepSum[]): string | null {
  if (steps.length < 3) return null;
  const scale = Math.max(...steps.map(({ peak }) => peak), 1);
  const middles = NUMBERS.map((of) => median(steps.map(of)));
  let odd: { id: string; far: number } | null = null;
  for (const step of steps) {
    const far = Math.max(
      ...NUMBERS.map((of, at) => {
        const middle = middles[at] as number;
        // A rise is near nothing: it is measured against the peak.
        return at === 2 ? Math.abs(of(step) - middle) / scale : off(of(step), middle);
      }),
    );
    if (far > (odd?.far ?? WORTH)) odd = { id: step.id, far };
  }
  return odd?.id ?? null;
}
