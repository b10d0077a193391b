/** How high the picture reaches in bytes, and where the lines for reserved and capacity go. */

/** Capacity is drawn to scale while it is at most this many times the highest thing shown. */
export const CAPACITY_REACH = 1.3;
/** Air above the highest thing drawn. */
const HEADROOM = 1.06;

export interface Height {
  /** Bytes at the upper edge of the plot, at least 1. */
  readonly top: number;
  /** Whether a line for capacity fits below `top`; otherwise a label says where it is. */
  readonly showsCapacity: boolean;
}

/** Height for the highest `allocated` and `reserved` in view (null: not shown) and the capacity. */
export function heightFor(
  allocated: number,
  reserved: number | null,
  capacity: number | null,
): Height {
  const highest = Math.max(allocated, reserved ?? 0);
  const showsCapacity =
    capacity !== null && capacity >= highest * 0.5 && capacity <= highest * CAPACITY_REACH;
  const top = showsCapacity ? Math.max(highest, capacity ?? 0) : highest;
  return { top: Math.max(1, top * HEADROOM), showsCapacity };
}

/** The formula plotted, as it is named wherever it is shown. */
export const FRAGMENTATION = "1 − allocated ÷ reserved";

/** The other formula in use, which XLA's and TensorFlow's allocators report. */
export const FREE_LIST = "1 − largest free chunk ÷ free bytes";

/** Fragmentation in the plotted formula; null with nothing reserved, or more allocated than that. */
export function fragmentation(allocated: number, reserved: number | null): number | null {
  if (reserved === null || !(reserved > 0) || allocated > reserved) return null;
  return 1 - allocated / reserved;
}
