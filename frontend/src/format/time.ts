/** Nanoseconds in words. */

const STEPS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A length of time: `310000000` → `310 ms`, `61e9` → `1 min 1 s`. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  const sign = ns < 0 ? "−" : "";
  if (size >= 59.9995e9) return sign + clock(Math.round(size / 1e9));
  for (const [unit, name] of STEPS) {
    if (size >= unit * 0.9995) return `${sign}${three(size / unit)}\u00a0${name}`;
  }
  return "0\u00a0s";
}

function clock(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  const parts = [
    [hours, "h"],
    [minutes, "min"],
    [hours ? 0 : rest, "s"],
  ] as const;
  return parts
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value}\u00a0${unit}`)
    .join(" ");
}

/** Three significant digits, without an exponent. */
function three(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** A moment relative to where the recording begins: `+0.41 s`. */
export function moment(ns: number, begin: number): string {
  const offset = ns - begin;
  return offset < 0 ? duration(offset) : `+${duration(offset)}`;
}

/** A date and time of the reader's clock for nanoseconds since 1970. */
export function date(ns: number): string {
  return new Date(ns / 1e6).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
