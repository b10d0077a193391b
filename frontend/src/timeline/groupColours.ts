/** Which colour each group of an answer is drawn in, and which group is picked. */

import { computed, type ReadonlySignal } from "@preact/signals";
import { AREA } from "../api";
import { by, selection } from "../state";
import { mix } from "../theme/mix";
import { AREA_COLOURS, type Coloured, type Colours } from "../theme/palette";
import { colours, dark, type Ink, ink } from "../theme/theme";
import type { Sheet } from "./scene";

/** Key of the group that is picked, if it belongs to the grouping shown. */
export const pickedGroup: ReadonlySignal<string | null> = computed(() => {
  const picked = selection.value;
  return picked?.kind === "group" && picked.by === by.value ? picked.key : null;
});

/** Colours of an answer: it keeps them while another recording or grouping is shown already. */
const handedOut = new WeakMap<object, { source: Colours; colours: readonly string[] }>();

/** A colour for each group of a sheet's answer. */
export const groupColours = ({ usage }: Pick<Sheet, "usage">): readonly string[] =>
  coloursFor(usage, usage.window);

/** A colour for each group of any answer that is grouped. */
export function coloursFor(
  answer: object,
  window: { readonly by?: string; readonly groups: readonly Coloured[] },
): readonly string[] {
  if (window.by === AREA) {
    const ofArea = AREA_COLOURS[dark.value ? "dark" : "light"];
    return window.groups.map(({ key }) => ofArea[key] ?? ink.value.quiet);
  }
  const source = colours.value;
  const known = handedOut.get(answer);
  if (known?.source === source || (known && known.source.taken !== source.taken)) {
    return known.colours;
  }
  const given = source.all(window.groups);
  handedOut.set(answer, { source, colours: given });
  return given;
}

/** The colour of what is too small to be drawn, where it is of several groups. */
export const gapColour = ({ background, quiet }: Ink): string => mix(background, quiet, 0.32);

/** A colour for each group; all but the picked group stand back. */
export function layerColours(sheet: Sheet, picked: string | null): readonly string[] {
  const { window } = sheet.usage;
  return standing(window.groups, groupColours(sheet), window.by === AREA ? null : picked);
}

/** `given`, the colours of `groups`, with all but the picked group standing back if it is there. */
export function standing(
  groups: readonly Coloured[],
  given: readonly string[],
  picked: string | null,
): readonly string[] {
  if (!groups.some(({ key }) => key === picked)) return given;
  return given.map((colour, index) =>
    groups[index]?.key === picked ? colour : mix(colour, ink.value.background, 0.72),
  );
}
