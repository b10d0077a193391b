/** One buffer of the bars in words. */

import type { PlanBars } from "../../api/bars";
import { bytes, exactBytes, share, times } from "../../format";
import { programLife } from "../../inspector/life";

export interface Told {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
}

export function tell(bars: PlanBars, row: number): Told {
  const [size, unpadded] = [bars.bytes[row] as number, bars.unpadded[row] as number];
  const form = `${bars.dtype[row] ?? ""}${bars.shape[row] ?? ""}`;
  const padding = size - unpadded;
  const rows: (readonly [string, string])[] = [
    ["shape", form],
    ["size", `${bytes(size)} (${exactBytes(size)}), ${share(size, bars.total)}`],
  ];
  if (padding !== 0) {
    rows.push(
      ["unpadded", `${bytes(unpadded)} (${exactBytes(unpadded)})`],
      ["padding", `${bytes(padding)} (${exactBytes(padding)})`],
      ["expansion", times(size, unpadded)],
    );
  }
  rows.push(
    ["kind", bars.kind[row] ?? ""],
    ["life", programLife(bars.birth[row] as number, bars.death[row] as number)],
  );
  return {
    title: bars.name[row] ?? "a buffer without a name",
    rows: rows.filter(([, value]) => value !== ""),
  };
}
