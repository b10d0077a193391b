/** What a picture leaves out because it is too much for one, in words. */

import type { Tile } from "../../drawing/tile";
import { bytes, counted } from "../../format";

/** Empty where everything is drawn. */
export function hiddenWords(tiles: readonly Tile[]): string {
  const sum = (of: (tile: Tile) => number): number =>
    tiles.reduce((total, tile) => total + of(tile), 0);
  const rows = sum(({ about }) => about.hidden.rows);
  const size = sum(({ about }) => about.hidden.bytes);
  // Every tile says the same of the ranges; of lives, those that reach over several are in each.
  const { ranges = 0, range_bytes = 0 } = tiles[0]?.about.hidden ?? {};
  const words = [];
  if (rows > 0) {
    const upTo = tiles.length > 1 ? "Up to " : "";
    const are = rows === 1 ? "is" : "are";
    words.push(
      `${upTo}${counted(rows, "smaller allocation")}, ${bytes(size)}, ${are} not drawn by themselves: too many for one picture; zoom in to see them.`,
    );
  }
  if (ranges > 0) {
    const are = ranges === 1 ? "is" : "are";
    words.push(
      `${counted(ranges, "smaller range")} of addresses, ${bytes(range_bytes)}, ${are} not shaded as mapped.`,
    );
  }
  return words.join(" ");
}
