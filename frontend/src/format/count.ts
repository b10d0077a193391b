/** Counts, shares and plural words. */

import { grouped } from "./bytes";

export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : grouped(value);

/** `counted(1, "block")` → `1 block`, `counted(1204, "block")` → `1 204 blocks`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${grouped(value)}\u00a0${value === 1 ? one : many}`;

/** `4×`, `1.33×`: how many times as large one is as another. */
export function times(large: number, small: number): string {
  if (small <= 0) return "–";
  const found = large / small;
  return `${Number.isInteger(found) ? grouped(found) : found.toFixed(2)}×`;
}

/** A share of a whole: `51.2 %`; what is there but tiny reads `< 0.1 %`. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return "<\u00a00.1\u00a0%";
  return `${percent.toFixed(1).replace("-", "−")}\u00a0%`;
}
