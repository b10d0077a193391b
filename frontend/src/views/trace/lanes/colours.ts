/** Which colour a span has: of its kind, or of the bytes that it allocated net. */

import { mix } from "../../../theme/mix";
import type { Ink } from "../../../theme/theme";

/** Kinds in the order of the legend; far from each other in hue, as categories are. */
const KINDS: Readonly<Record<string, string>> = {
  step: "#ccbb44",
  annotation: "#44aa99",
  module: "#aa3377",
  op: "#4477aa",
  python: "#999999",
  runtime: "#ee8866",
  kernel: "#228833",
  copy: "#33a8d8",
  hlo_module: "#882255",
};
const OTHER = "#777777";
/** Colours are mixed into the background, so that names can be read on them. */
const SHARE = 0.46;
const FREED = "#2166ac";
const ALLOCATED = "#d9632b";
/** Bytes that are told from nothing, and powers of two up to which a colour deepens. */
const LEAST = 9;
const MOST = 33;

export const kindOrder = (kinds: readonly string[]): string[] => [
  ...Object.keys(KINDS).filter((kind) => kinds.includes(kind)),
  ...kinds.filter((kind) => !(kind in KINDS)),
];

const shares = { light: SHARE, dark: 0.5 };

/** The colour of a kind on the background of now. */
export function kindColour(kind: string | null, ink: Ink): string {
  const colour = KINDS[kind ?? ""] ?? OTHER;
  return mix(
    colour,
    ink.background,
    1 - (ink.background === "#ffffff" ? shares.light : shares.dark),
  );
}

/** The colour of bytes: grey for none, the deeper the more orders of magnitude it is. */
export function netColour(bytes: number, ink: Ink): string {
  const none = mix(ink.track, ink.quiet, 0.12);
  if (bytes === 0) return none;
  const size = Math.log2(Math.abs(bytes));
  const share = Math.min(Math.max((size - LEAST) / (MOST - LEAST), 0.12), 1);
  // Eight steps: more could not be told apart, and each is a colour to be set up.
  return mix(none, bytes > 0 ? ALLOCATED : FREED, Math.ceil(share * 8) / 8 / 1.25);
}
