/** The buffers alive at the cursor as three bars: in program order, by size, by padding. */

export function Bars() {
  return null;
}
