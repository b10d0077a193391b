/** Guesses at the shape of an allocation, from the sizes that recur in the recording. */

export interface Recurring {
  readonly bytes: number;
  readonly count: number;
}

export interface Multiple {
  readonly times: number;
  readonly of: Recurring;
}

export interface Shape {
  readonly dimensions: readonly number[];
  /** Bytes an element. */
  readonly width: number;
}

/** Bytes of the elements that tensors are made of, the likeliest first. */
const WIDTHS = [2, 4, 1] as const;
/** What counts as a dimension: smaller ones divide nearly everything, larger ones are products. */
const SMALLEST = 16;
const LARGEST = 2 ** 18;
/** Sizes and dimensions looked at, and answers given. */
const SIZES = 24;
const DIMENSIONS = 40;
const ANSWERS = 3;
/** Most times that a size may be taken. */
const TIMES = 512;

/** `bytes` as multiples of sizes that recur, the fewest times first. */
export function multiplesOf(bytes: number, recurring: readonly Recurring[]): Multiple[] {
  return recurring
    .filter((of) => of.count > 1 && of.bytes > 0 && bytes > of.bytes && bytes % of.bytes === 0)
    .map((of) => ({ times: bytes / of.bytes, of }))
    .filter(({ times }) => times <= TIMES)
    .sort((a, b) => a.times - b.times)
    .slice(0, ANSWERS);
}

/** Shapes that `bytes` can have with dimensions that recur, the likeliest first. */
export function shapesOf(bytes: number, recurring: readonly Recurring[]): Shape[] {
  for (const width of WIDTHS) {
    if (bytes % width !== 0) continue;
    const known = dimensionsIn(recurring, width);
    const found = factorings(bytes / width, known);
    if (found.length > 0) return found.map((dimensions) => ({ dimensions, width }));
  }
  return [];
}

/** Numbers that many of the sizes have in common: what divides two of them, or is a square's side. */
function dimensionsIn(recurring: readonly Recurring[], width: number): number[] {
  const elements = recurring
    .filter(({ bytes, count }) => count > 1 && bytes % width === 0)
    .sort((a, b) => b.bytes * b.count - a.bytes * a.count)
    .slice(0, SIZES)
    .map(({ bytes }) => bytes / width);
  const found = new Set<number>();
  elements.forEach((one, at) => {
    const root = Math.round(Math.sqrt(one));
    if (root * root === one) found.add(root);
    for (const other of elements.slice(at + 1)) {
      const common = divisor(one, other);
      for (const part of [common, one / common, other / common]) found.add(part);
    }
  });
  const shared = (size: number) => elements.filter((one) => one % size === 0).length;
  return [...found]
    .filter((size) => size >= SMALLEST && size <= LARGEST)
    .map((size) => ({ size, weight: shared(size) * Math.log2(size) }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, DIMENSIONS)
    .map(({ size }) => size);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** `count` as two known numbers and a rest, the smallest rest first; the largest dimension last. */
function factorings(count: number, known: readonly number[]): number[][] {
  const found = new Map<string, { readonly dimensions: number[]; readonly rest: number }>();
  known.forEach((one, at) => {
    for (const other of known.slice(at)) {
      const rest = count / (one * other);
      if (!Number.isInteger(rest)) continue;
      const sides = [one, other].sort((a, b) => a - b);
      const dimensions = rest === 1 ? sides : [rest, ...sides];
      found.set(dimensions.join(), { dimensions, rest });
    }
  });
  return [...found.values()]
    .sort((a, b) => a.rest - b.rest)
    .slice(0, ANSWERS)
    .map(({ dimensions }) => dimensions);
}
