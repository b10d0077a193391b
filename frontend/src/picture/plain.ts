/** What every picture of lives begins with: air above it, and the colours that the theme gives it. */

import type { Palette } from "../drawing/palette";
import type { Tile } from "../drawing/tile";
import { isPlan } from "../state/recording";
import { ink } from "../theme/theme";
import { coloursFor, gapColour } from "../timeline/groupColours";

/** Air above the highest thing drawn. */
export const HEADROOM = 1.06;

/** A colour a group, nothing selected, nothing standing back; reads signals. */
export function plainPalette(tiles: readonly Tile[]): Palette {
  const paints = ink.value;
  return {
    bands: tiles.map((tile) => coloursFor(tile, tile.about)),
    faint: tiles.map(() => []),
    background: paints.background,
    gap: gapColour(paints),
    held: paints.track,
    outline: paints.text,
    selected: null,
    siblings: [],
    lasting: isPlan.value,
    searching: false,
  };
}
