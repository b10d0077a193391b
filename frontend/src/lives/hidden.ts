/** What a picture leaves out because it is too much for one, in words. */

import type { Tile } from "../drawing/tile";
import { bytes, counted } from "../format";

/** Empty where everything is drawn. */
export function hiddenWords(tiles: readonly Tile[]): string {
  const sum = (of: (tile: Tile) => number): number =>
    tiles.reduce((total, tile) => total + of(tile), 0);
  const rows = sum(({ about }) => about.hidden.rows);
  const size = sum(({ about }) => about.hidden.bytes);
  const left = sum(({ about }) => about.hidden.left);
  const leftBytes = sum(({ about }) => about.hidden.left_bytes);
  const ranges = sum(({ about }) => about.hidden.ranges);
  const rangeBytes = sum(({ about }) => about.hidden.range_bytes);
  // What reaches over several tiles is in each of them.
  const upTo = tiles.length > 1 ? "Up to " : "";
  const words = [];
  if (rows > 0) {
    const are = rows === 1 ? "is" : "are";
    words.push(
      `${upTo}${counted(rows, "smaller allocation")}, ${bytes(size)}, ${are} not drawn by themselves: too many for one picture; zoom in to see them.`,
    );
  }
  if (left > 0) {
    const are = left === 1 ? "is" : "are";
    words.push(
      `${upTo}${counted(left, "allocation")}, ${bytes(leftBytes)}, ${are} not drawn at all.`,
    );
  }
  if (ranges > 0) {
    const are = ranges === 1 ? "is" : "are";
    words.push(
      `${upTo}${counted(ranges, "smaller range")} of addresses, ${bytes(rangeBytes)}, ${are} not shaded as mapped; zoom in to see them.`,
    );
  }
  // The same in every tile: a sum of what was there all the time.
  const unplaced = tiles.find(({ about }) => about.unplaced?.count)?.about.unplaced;
  if (unplaced) {
    words.push(
      `${bytes(unplaced.bytes)} that were alive before the window are not shown: the source has their sum only, and no addresses.`,
    );
  }
  return words.join(" ");
}
