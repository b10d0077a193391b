/** Which step differs from the others. */

import type { StepSum } from "../../../api";

/** Steps take now more and now less time: so much of that counts as of memory. */
const TIME = 0.4;

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
];

/**
 * Id of the step whose peak, allocations, rise or time are farthest from those in the middle of all; null where
 * all are alike, and where there are too few to say who is the odd one.
 */
export function oddOne(steps: readonly StepSum[]): string | null {
  if (steps.length < 3) return null;
  const scale = Math.max(...steps.map(({ peak }) => peak), 1);
  const middles = NUMBERS.map((of) => median(steps.map(of)));
  const rise = ({ before, after }: StepSum): number => after - before;
  const rises = median(steps.map(rise));
  const length = ({ begin, end }: StepSum): number => end - begin;
  const lengths = median(steps.map(length));
  let odd: string | null = null;
  let most = WORTH;
  for (const step of steps) {
    const shares = NUMBERS.map((of, at) => off(of(step), middles[at] as number));
    // A rise is near nothing: it is measured against the peak.
    const rising = Math.abs(rise(step) - rises) / scale;
    const far = Math.max(...shares, rising, TIME * off(length(step), lengths));
    if (far <= most) continue;
    most = far;
    odd = step.id;
  }
  return odd;
}
