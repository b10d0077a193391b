/** Colours of boxes by the group of what they weigh: those of the chart, the table and the picture. */

import type { FlameGraph } from "../../api";
import { groupLabel } from "../../state/groups";
import { callColours } from "../../state/view";
import { ink } from "../../theme/theme";
import { coloursFor, gapColour, pickedGroup, standing } from "../../timeline/groupColours";
import type { Entry } from "../../timeline/Legend";

/** A colour for every node; null where colours say something else, or groups are not there yet. */
export function boxColours(graph: FlameGraph): readonly string[] | null {
  const { groups, nodes } = graph;
  if (callColours.value !== "group" || !groups || !nodes.band) return null;
  const colours = standing(groups, coloursFor(graph, { groups }), pickedGroup.value);
  const several = gapColour(ink.value);
  return nodes.band.map((band) => colours[band] ?? several);
}

/** The groups that a box of its own colour stands for, for the legend. */
export function entriesOf(graph: FlameGraph | undefined): readonly Entry[] {
  if (callColours.value !== "group" || !graph?.groups) return [];
  const { groups, by = "" } = graph;
  const colours = coloursFor(graph, { groups });
  return groups.map(({ key, label }, index) => ({
    key,
    label: groupLabel(label, by),
    colour: colours[index] ?? "",
  }));
}
