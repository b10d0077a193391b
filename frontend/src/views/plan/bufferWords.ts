/** One buffer of the bars in words. */

import type { PlanBars } from "../../api/bars";
import { bytes, exactBytes, grouped, share } from "../../format";

export interface Told {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
}

/** `4×`, `1.33×`: how many times as large it is for being padded. */
export function expansion(size: number, unpadded: number): string {
  if (unpadded <= 0) return "–";
  const times = size / unpadded;
  return `${Number.isInteger(times) ? grouped(times) : times.toFixed(2)}×`;
}

/** `event 12 to event 40 of the program`; what is held all the time has no such end. */
export function lifeSpan(birth: number | null, death: number | null): string {
  const from = birth === null || Number.isNaN(birth);
  const to = death === null || Number.isNaN(death);
  if (from && to) return "the whole program";
  const begin = from ? "the start" : `event ${grouped(birth)}`;
  const end = to ? "the end" : `event ${grouped(death)}`;
  return `${begin} to ${end} of the program`;
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
      ["expansion", expansion(size, unpadded)],
    );
  }
  rows.push(
    ["kind", bars.kind[row] ?? ""],
    ["life", lifeSpan(bars.birth[row] as number, bars.death[row] as number)],
  );
  return {
    title: bars.name[row] ?? "a buffer without a name",
    rows: rows.filter(([, value]) => value !== ""),
  };
}
