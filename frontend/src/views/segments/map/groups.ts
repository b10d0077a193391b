/** Colours of blocks by their group: those of the chart, the table and the picture. */

import type { SegmentState } from "../../../api";
import type { UsageGroup } from "../../../api/types";
import { blocksBy } from "../../../state";
import { mix } from "../../../theme/mix";
import { type Ink, ink } from "../../../theme/theme";
import { coloursFor, gapColour, pickedGroup } from "../../../timeline/groupColours";

export interface Named {
  readonly group: UsageGroup;
  readonly colour: string;
}

/** The groups of a state with their colours; null where blocks are coloured by kind. */
export function groupsOf(state: SegmentState | null): readonly Named[] | null {
  const { groups } = state?.about ?? {};
  if (state === null || groups === undefined) return null;
  if (blocksBy.value === "kind") return null;
  const colours = coloursFor(state, { groups });
  const picked = pickedGroup.value;
  const isThere = groups.some(({ key }) => key === picked);
  return groups.map((group, index) => {
    const colour = colours[index] as string;
    const isFaint = isThere && group.key !== picked;
    return { group, colour: isFaint ? mix(colour, ink.value.background, 0.72) : colour };
  });
}

/** What the bytes that were asked for are filled with in a row of blocks; null: by kind. */
export type Fill = (state: SegmentState, row: number) => string | null;

/** Blocks of several groups that are too small to tell apart are grey. */
export function fillOf(named: readonly Named[] | null, paints: Ink): Fill {
  const several = gapColour(paints);
  return ({ blocks }, row) => {
    const band = blocks.band[row];
    return named === null || band === undefined ? null : (named[band]?.colour ?? several);
  };
}
