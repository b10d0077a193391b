/** Colours of blocks by their group: those of the chart, the table and the picture. */

import type { SegmentState } from "../../../api";
import type { UsageGroup } from "../../../api/types";
import { blocksBy } from "../../../state";
import type { Ink } from "../../../theme/theme";
import { coloursFor, gapColour, pickedGroup, standing } from "../../../timeline/groupColours";

export interface Named {
  readonly group: UsageGroup;
  readonly colour: string;
}

/** The groups of a state with their colours; null where blocks are coloured by kind. */
export function groupsOf(state: SegmentState | null): readonly Named[] | null {
  const { groups } = state?.about ?? {};
  if (state === null || groups === undefined) return null;
  if (blocksBy.value === "kind") return null;
  const colours = standing(groups, coloursFor(state, { groups }), pickedGroup.value);
  return groups.map((group, index) => ({ group, colour: colours[index] as string }));
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
