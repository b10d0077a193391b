/** The flame graph's own state: its answer, its boxes, what is pointed at, and where clicks lead. */

import { computed, signal } from "@preact/signals";
import { type FlameQuery, flameAddress, getFlame } from "../../api";
import { card } from "../../flow/questions";
import { resource } from "../../state/resource";
import { call, callColours, find, folded, inverted, selection } from "../../state/view";
import { pickedGroup } from "../../timeline/groupColours";
import { pickedQuery, weighQuery } from "../../weighing/query";
import { layoutOf } from "./layout";
import { nodesOf, pickedNodes } from "./selected";

/** Pixels of a row. */
export const ROW = 18;
/** Widths are asked for in steps of so many pixels, so that answers can be used again. */
const STEP = 400;

/** A node of the answer, or, as `~step`, a step of the way to the first of them. */
export type Place = number;

export type Model = ReturnType<typeof createModel>;

export function createModel() {
  const width = signal(0);
  const height = signal(0);
  /** Pixels that are scrolled away above. */
  const scrolled = signal(0);
  const pointer = signal<{ place: Place; x: number; y: number } | null>(null);
  /** Where the keyboard is. */
  const focus = signal<Place>(0);

  const asked = computed<FlameQuery | null>(() => {
    const query = weighQuery.value;
    if (!query || width.value <= 0) return null;
    return {
      ...query,
      find: find.value,
      inverted: inverted.value ? 1 : 0,
      folded: folded.value ? 1 : 0,
      root: call.value,
      bands: callColours.value === "group" ? 1 : 0,
      ...pickedQuery(callColours.value === "group"),
      width: Math.ceil(width.value / STEP) * STEP,
    };
  });
  const { answer, dispose } = resource(
    () => asked.value,
    async (query, abort) => {
      const graph = await getFlame(query, abort);
      return { graph, layout: layoutOf(graph) };
    },
  );
  /** The last answer, if it is about the recording and the device that are shown. */
  const shown = computed(() => {
    const { data } = answer.value;
    return data !== null && data.graph.device === weighQuery.value?.device ? data : null;
  });
  /** Rows above the first node: the way to it. */
  const above = computed(() => (shown.value?.graph.way.length ?? 1) - 1);
  const rows = computed(() => above.value + (shown.value?.layout.rows.length ?? 1));
  /** Nodes that the stack of the selected allocation or group goes through. */
  const selected = computed<ReadonlySet<number>>(() => {
    if (shown.value === null) return new Set();
    const { graph, layout } = shown.value;
    if (pickedGroup.value !== null) return new Set(pickedNodes(graph));
    const stack = selection.value?.kind === "allocation" ? card.value.data?.birth_stack : null;
    if (!stack) return new Set();
    return new Set(nodesOf(graph, layout, stack, inverted.value));
  });
  return {
    width,
    height,
    scrolled,
    pointer,
    focus,
    answer,
    shown,
    above,
    rows,
    selected,
    addressOf: (file: Parameters<typeof flameAddress>[0]): string | null =>
      asked.value && flameAddress(file, asked.value),
    dispose,
  };
}

/** Name, key, value and so on of a node or a step. */
export function factsOf(model: Model, place: Place) {
  const graph = model.shown.value?.graph;
  const layout = model.shown.value?.layout;
  if (!graph || !layout) return null;
  if (place < 0) {
    const step = graph.way[~place];
    return step
      ? { ...step, own: null, hit: null, picked: null, group: null, row: ~place, below: 1 }
      : null;
  }
  const { frame, key, value, count, hit, picked, band } = graph.nodes;
  const named = frame[place];
  if (named === undefined) return null;
  return {
    frame: named,
    key: key[place] ?? null,
    value: value[place] ?? 0,
    count: count[place] ?? 0,
    own: layout.own[place] ?? 0,
    hit: hit?.[place] ?? null,
    picked: picked?.[place] ?? null,
    group: graph.groups?.[band?.[place] ?? -1] ?? null,
    row: model.above.value + (layout.depth[place] ?? 0),
    below: layout.below[place]?.length ?? 0,
  };
}

export type Facts = NonNullable<ReturnType<typeof factsOf>>;

/** Looks into a node: what is merged, by looking into the node above it. */
export function lookInto(model: Model, place: Place): void {
  const graph = model.shown.value?.graph;
  if (!graph) return;
  const facts = factsOf(model, place);
  const above = place >= 0 && facts?.key === null ? (graph.nodes.parent[place] ?? 0) : place;
  const key = factsOf(model, above)?.key ?? null;
  model.focus.value = 0;
  model.pointer.value = null;
  call.value = key === graph.way[0]?.key ? null : key;
}

/** Looks at the node above the one that is looked into; false where that is all already. */
export function lookOut(model: Model): boolean {
  const above = model.above.value;
  if (above === 0) return false;
  lookInto(model, ~(above - 1));
  return true;
}
