/** The plan's size without padding as the chart's second line: asked for bin by bin as the chart is. */

import { effect } from "@preact/signals";
import { getPlanCurve, type Usage, wasAborted } from "../../api";
import type { PlanCurve } from "../../api/bars";
import { target } from "../../flow/questions";
import { isLost, renewed } from "../../state/recording";
import { visible } from "../../state/visible";
import type { Model } from "../../timeline/model";
import type { OtherLine } from "../../timeline/otherLine";

/** Less than this part of the highest is not seen. */
const SEEN = 0.002;

/** The line of an answer: both have the same bins, and in each the highest moment. */
export function unpaddedLine(usage: Usage, curve: PlanCurve): OtherLine {
  const { begin, bin } = usage.window;
  const highest = usage.level.reduce((most, level) => Math.max(most, level), 0);
  const placeOf = (row: number): number => Math.round(((usage.begin[row] as number) - begin) / bin);
  const at = (of: Usage, row: number): number | null => {
    if (of !== usage) return null;
    const place = placeOf(row);
    const [size, unpadded] = [curve.size[place], curve.unpadded[place]];
    if (size === undefined || unpadded === undefined || unpadded === size) return null;
    // Where the highest of a bin is another moment nothing is said of it.
    return size === usage.level[row] ? unpadded : null;
  };
  return {
    label: "without padding",
    title: "What the same buffers would take without the padding of tiles",
    isSeen: curve.size.some(
      (size, place) => size - (curve.unpadded[place] as number) >= SEEN * highest,
    ),
    at,
    of: (of, row) => {
      const place = placeOf(row);
      const isSame = of === usage && curve.event[place] === usage.event[row];
      return isSame ? (curve.instruction[place] ?? null) : null;
    },
  };
}

/** Keeps the model's second line that of what it shows; the answer ends that. */
export function followUnpadded(model: Model): () => void {
  const known = new WeakMap<Usage, OtherLine>();
  const stop = effect(() => {
    const [usage, of] = [model.loader.detail.value, target.value];
    renewed.value;
    if (usage === null || of === null || !visible.value) return;
    const kept = known.get(usage);
    if (kept !== undefined) {
      model.otherLine.value = kept;
      return;
    }
    const { begin, end, bin, axis } = usage.window;
    if (axis !== "event" || usage.length === 0) return;
    const abort = new AbortController();
    const width = Math.max(1, Math.ceil((end - begin) / bin));
    getPlanCurve({ ...of, begin, end, width }, abort.signal).then(
      (curve) => {
        const line = unpaddedLine(usage, curve);
        known.set(usage, line);
        if (!abort.signal.aborted) model.otherLine.value = line;
      },
      (error: unknown) => {
        // Nothing is said of it: the chart itself tells that nobody answers.
        if (!wasAborted(error)) isLost(error);
      },
    );
    return () => abort.abort();
  });
  return () => {
    stop();
    model.otherLine.value = null;
  };
}
