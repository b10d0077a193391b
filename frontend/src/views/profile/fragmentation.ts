/** Fragmentation in its plotted formula: 1 − allocated ÷ reserved, and the bytes that it is. */

export interface Fragmentation {
  share: number;
  bytes: number;
}

/** Null where reserved is not known, nothing is held, or more is allocated than held. */
export function fragmentation(allocated: number, reserved: number | null): Fragmentation | null {
  if (reserved === null || reserved <= 0 || allocated > reserved) return null;
  return { share: 1 - allocated / reserved, bytes: reserved - allocated };
}
