/** Places and labels for axis ticks: bytes in binary units, times from nanoseconds to days, events. */

import { grouped } from "../format/bytes";
import type { Range } from "./scale";

export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** Ticks of a horizontal axis. With `base`, labels count from there and `base` must be shown too. */
export interface AxisTicks {
  readonly ticks: readonly Tick[];
  readonly base: Tick | null;
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

/**
 * Ticks from 0 to at most `top` bytes, a power of two apart, between four and eight of them (fewer
 * where one byte is too coarse). The unit is written at the highest only: the others share it.
 */
export function byteTicks(top: number, most = 8): Tick[] {
  if (!(top > 0)) return [{ value: 0, label: "0 B" }];
  const step = Math.max(1, 2 ** (Math.floor(Math.log2(top / most)) + 1));
  const last = Math.floor(top / step) * step;
  const unit = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(Math.max(last, 1)) / 10));
  const ticks: Tick[] = [];
  for (let value = 0; value <= last; value += step) {
    const number = String(Number((value / 1024 ** unit).toFixed(3)));
    ticks.push({ value, label: value === last ? `${number} ${BYTE_UNITS[unit]}` : number });
  }
  return ticks;
}

/** Ticks for a share from 0 to 1. */
export function shareTicks(): Tick[] {
  return [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, label: `${value * 100} %` }));
}

/** The smallest of 1, 2, 5 × 10ⁿ that is at least `rough`. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const mantissa = rough / power;
  const nice = mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10;
  return nice * power;
}

/** Event ordinals, whole numbers, at most `most` of them. */
export function eventTicks(window: Range, most: number): AxisTicks {
  const step = Math.max(1, Math.round(niceStep((window.end - window.begin) / Math.max(most, 1))));
  const ticks = multiples(window, step).map((value) => ({ value, label: grouped(value) }));
  return { ticks, base: null };
}

const SECOND = 1e9;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Steps above a second that clocks have names for. */
const LONG_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400,
];

function timeStep(rough: number): number {
  if (rough <= SECOND) return Math.max(1, Math.round(niceStep(rough)));
  const named = LONG_STEPS.find((seconds) => seconds * SECOND >= rough);
  return named === undefined ? niceStep(rough / DAY) * DAY : named * SECOND;
}

const TIME_UNITS: readonly (readonly [number, string])[] = [
  [SECOND, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** `value` ns in the unit of `scale` ns, without trailing zeros. */
function timeLabel(value: number, scale: number): string {
  if (value === 0) return "0";
  if (value < 0) return `−${timeLabel(-value, scale)}`;
  if (scale >= MINUTE) return clock(value);
  const [size, name] = TIME_UNITS.find(([unit]) => scale >= unit) ?? [1, "ns"];
  return `${grouped(Math.floor(value / size))}${fraction(value, size)} ${name}`;
}

function fraction(value: number, size: number): string {
  const rest = value - Math.floor(value / size) * size;
  if (rest === 0) return "";
  const digits = Math.round(Math.log10(size));
  return `.${String(Math.round(rest)).padStart(digits, "0").replace(/0+$/, "")}`;
}

function clock(value: number): string {
  const seconds = Math.round(value / SECOND);
  const parts = [
    Math.floor((seconds % 86400) / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  const days = Math.floor(seconds / 86400);
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return days > 0 ? `${days} d ${text}` : text;
}

/**
 * Times in ns since the recording's origin, at most `most` of them. Where the window is so narrow
 * that every label would repeat the same leading digits, they count from `base` instead.
 */
export function timeTicks(window: Range, most: number): AxisTicks {
  const step = timeStep((window.end - window.begin) / Math.max(most, 1));
  const values = multiples(window, step);
  const furthest = Math.max(Math.abs(window.begin), Math.abs(window.end));
  if (furthest / step < 10_000) {
    const scale = furthest >= HOUR && step >= SECOND ? MINUTE : unitBelow(furthest);
    return {
      ticks: values.map((value) => ({ value, label: timeLabel(value, scale) })),
      base: null,
    };
  }
  const first = values[0] ?? window.begin;
  const coarse = step * 1000;
  const origin = Math.floor(first / coarse) * coarse;
  const base = { value: origin, label: timeLabel(origin, SECOND) };
  const size = unitBelow(Math.max(step, 1));
  const ticks = values.map((value) => ({ value, label: `+${timeLabel(value - origin, size)}` }));
  return { ticks, base };
}

function unitBelow(value: number): number {
  return TIME_UNITS.find(([unit]) => value >= unit)?.[0] ?? 1;
}

function multiples(window: Range, step: number): number[] {
  const values: number[] = [];
  // Counting steps instead of adding them keeps large ordinals exact.
  const last = Math.floor(window.end / step);
  for (let count = Math.ceil(window.begin / step); count <= last; count++)
    values.push(count * step);
  return values;
}
