/** Bytes in words: the one place where KiB, MiB and GiB are made. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;
const THIN = "\u202f";

export interface Quantity {
  number: string;
  unit: string;
}

/** The unit (a power of 1024) in which `bytes` is at least 1; `rounded` values never read 1024.0. */
function scale(bytes: number): number {
  let power = 0;
  let value = Math.abs(bytes);
  // 1023.95 would be written 1024.0: the next unit says it better.
  while (value >= 1023.95 && power < UNITS.length - 1) {
    value /= 1024;
    power += 1;
  }
  return power;
}

function digits(value: number): number {
  const size = Math.abs(value);
  if (size >= 99.95) return 1;
  return 2;
}

/** `12345678` → `{ number: "11.77", unit: "MiB" }`. Whole bytes stay whole. */
export function quantity(bytes: number): Quantity {
  const power = scale(bytes);
  if (power === 0) return { number: grouped(Math.round(bytes)), unit: "B" };
  const value = bytes / 1024 ** power;
  return { number: value.toFixed(digits(value)).replace("-", "−"), unit: UNITS[power] ?? "B" };
}

/** `12345678` → `11.77 MiB`. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const { number, unit } = quantity(value);
  return `${number}\u00a0${unit}`;
}

/** `12345678` → `12 345 678 bytes`: exact, for tooltips and the inspector. */
export const exactBytes = (value: number): string =>
  `${grouped(value)}\u00a0${Math.abs(value) === 1 ? "byte" : "bytes"}`;

/** `+1.00 MiB`, `−2 B`, `±0 B`. */
export function signedBytes(value: number): string {
  if (value === 0) return "±0\u00a0B";
  return value > 0 ? `+${bytes(value)}` : bytes(value);
}

/** `12345` → `12 345`, with thin spaces that never break. */
export function grouped(value: number | bigint): string {
  const size = value < 0 ? -value : value;
  // Past 2⁵³ a number's own digits are rounded to the shortest that name it.
  const isLong = typeof size === "number" && Number.isInteger(size) && !Number.isSafeInteger(size);
  const text = isLong ? BigInt(size).toString() : size.toString();
  const split = text.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
  return value < 0 ? `−${split}` : split;
}
