/** What the chart shows, worked out from answers and state: pure, so that only paint/ knows a canvas. */

import { AREA, type Axis, type Device, type Mark, type Usage } from "../api";
import { columnMaxima, columnRows, NO_ROW, onlyWhereEmpty } from "./columns";
import { type Height, heightFor } from "./height";
import { highestRow, placeOfRow } from "./rows";
import { type Range, toPixel } from "./scale";
import { stackTops } from "./stacking";

/** The plot inside its canvas, in CSS pixels; `columns` device pixels wide. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly columns: number;
}

/** One answer ready to draw: its groups stacked, and what each column shows. */
export interface Sheet {
  readonly usage: Usage;
  readonly rows: Int32Array;
  /** Tops of the groups that are drawn, the lowest first. */
  readonly tops: readonly Float64Array[];
  /** Highest reserved of each column; null where the source knows nothing of it. */
  readonly reserved: Float64Array | null;
}

export interface PlacedMark {
  readonly mark: Mark;
  readonly x: number;
}

export interface Dot {
  /** CSS pixels from the left of the plot. */
  readonly x: number;
  readonly bytes: number;
  /** Whether it is the device's peak, or only the highest in view. */
  readonly isPeak: boolean;
}

export interface Scene {
  readonly axis: Axis;
  readonly window: Range;
  readonly plot: Plot;
  /** Coarse first: what the finer one does not reach is filled from the whole. */
  readonly sheets: readonly Sheet[];
  readonly height: Height;
  readonly capacity: number | null;
  readonly marks: readonly PlacedMark[];
  readonly dot: Dot | null;
}

export interface Shown {
  readonly reserved: boolean;
  readonly capacity: boolean;
}

const stacked = new WeakMap<Usage, readonly Float64Array[]>();

/** The stack of an answer, worked out once. */
export function topsOf(usage: Usage): readonly Float64Array[] {
  const tops = stacked.get(usage) ?? stackTops(usage);
  stacked.set(usage, tops);
  return tops;
}

/** What the picture is as high as in every row, without what is free; 0 where that is not known. */
export function levelOf(usage: Usage): Float64Array {
  return usage.level.map((bytes) => (Number.isNaN(bytes) ? 0 : bytes));
}

/** Sheets for the window: the detail, and under it the whole where the detail leaves columns empty. */
export function sheetsFor(
  detail: Usage | null,
  whole: Usage | null,
  window: Range,
  columns: number,
  free = true,
): Sheet[] {
  const sheet = (usage: Usage, rows: Int32Array): Sheet => {
    const reserved = usage.window.has_reserved
      ? columnMaxima(usage, usage.reservedMax, window, columns)
      : null;
    const tops = topsOf(usage);
    // It is the last of the areas, on top of the others.
    const isCut = !free && isByArea(usage) && usage.window.groups.at(-1)?.key === "free";
    return { usage, rows, reserved, tops: isCut ? tops.slice(0, -1) : tops };
  };
  if (detail === null)
    return whole === null ? [] : [sheet(whole, columnRows(whole, window, columns))];
  const rows = columnRows(detail, window, columns);
  const fine = sheet(detail, rows);
  if (whole === null || whole === detail || !rows.includes(NO_ROW)) return [fine];
  const under = onlyWhereEmpty(columnRows(whole, window, columns), rows);
  return [sheet(whole, under), fine];
}

/** Whether an answer is of stack, heap and free as the allocator reports them. */
export const isByArea = ({ window }: Usage): boolean => window.by === AREA;

/** Highest of what is drawn and of reserved among the columns of all sheets. */
function reach(sheets: readonly Sheet[]): { allocated: number; reserved: number | null } {
  let allocated = 0;
  let reserved: number | null = null;
  for (const sheet of sheets) {
    sheet.rows.forEach((row, column) => {
      if (row === NO_ROW) return;
      const top = sheet.tops.at(-1)?.[row] ?? (sheet.usage.level[row] as number);
      allocated = Math.max(allocated, top);
      const held = sheet.reserved?.[column] ?? Number.NaN;
      if (!Number.isNaN(held)) reserved = Math.max(reserved ?? 0, held);
    });
  }
  return { allocated, reserved };
}

export function sceneFor(
  axis: Axis,
  window: Range,
  plot: Plot,
  sheets: readonly Sheet[],
  device: Device,
  marks: readonly Mark[],
  shown: Shown,
): Scene {
  const { allocated, reserved } = reach(sheets);
  const capacity = shown.capacity ? device.capacity : null;
  return {
    axis,
    window,
    plot,
    sheets,
    height: heightFor(allocated, shown.reserved ? reserved : null, capacity),
    capacity,
    marks: placeMarks(marks, axis, window, plot),
    dot: dotFor(axis, window, plot, sheets, device),
  };
}

/** Marks in the window, with their places. */
export function placeMarks(
  marks: readonly Mark[],
  axis: Axis,
  window: Range,
  plot: Plot,
): readonly PlacedMark[] {
  return marks.flatMap((mark) => {
    const value = axis === "time" ? mark.time : mark.event;
    if (value === null || value < window.begin || value > window.end) return [];
    return [{ mark, x: toPixel(window, plot.width, value) }];
  });
}

/** Where the peak stands on the axis; one that was there before the first event stands at it. */
export function placeOfPeak(device: Device, axis: Axis): number | null {
  if (axis === "event") return Math.max(device.peak_event, 0);
  return device.peak_time ?? device.begin_time;
}

/** The device's peak if it is in view, else the highest that is. */
export function dotFor(
  axis: Axis,
  window: Range,
  plot: Plot,
  sheets: readonly Sheet[],
  device: Device,
): Dot | null {
  if (sheets.length === 0) return null;
  const usage = sheets.at(-1)?.usage;
  const [peak, most] =
    usage !== undefined && isByArea(usage) && device.allocator !== null
      ? [device.allocator[axis], device.allocator.peak]
      : [placeOfPeak(device, axis), device.allocated_peak];
  if (peak !== null && peak >= window.begin && peak <= window.end) {
    return { x: toPixel(window, plot.width, peak), bytes: most, isPeak: true };
  }
  if (usage === undefined) return null;
  const row = highestRow(usage, window.begin, window.end);
  if (row < 0) return null;
  const x = Math.max(0, toPixel(window, plot.width, placeOfRow(usage, row)));
  return { x, bytes: usage.level[row] as number, isPeak: false };
}

/** What a pixel of the plot shows: the finest sheet's row there. */
export interface Pointed {
  readonly sheet: Sheet;
  readonly row: number;
}

/** The row under CSS pixel `x` of the plot; null where nothing is drawn. */
export function pointedAt(scene: Scene, x: number): Pointed | null {
  const { columns, width } = scene.plot;
  const column = Math.min(Math.max(Math.floor((x / width) * columns), 0), columns - 1);
  for (const sheet of [...scene.sheets].reverse()) {
    const row = sheet.rows[column];
    if (row !== undefined && row !== NO_ROW) return { sheet, row };
  }
  return null;
}
