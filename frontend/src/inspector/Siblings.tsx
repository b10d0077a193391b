/** The other allocations of the same stack, and the way from one to the next. */

import type { Siblings as Family } from "../api";
import { bytes, count, counted } from "../format";
import { say } from "../state/say";
import { selection } from "../state/view";

const select = (id: string): void => {
  selection.value = { kind: "allocation", id };
};

export function Siblings({ of, id }: { of: Family; id: string }) {
  if (of.count <= 1) return null;
  const ids = of.ids.map(String);
  const at = ids.indexOf(id);
  const before = at > 0 ? ids[at - 1] : undefined;
  const after = at >= 0 ? ids[at + 1] : ids[0];
  return (
    <section aria-label="Siblings">
      <h3>From the same stack</h3>
      <p>
        {counted(of.count, say("allocation"))}, {bytes(of.bytes)} in all, {count(of.alive_at_peak)}{" "}
        alive at the peak
      </p>
      {ids.length < of.count && (
        <p class="quiet small">
          The picture of allocations marks {count(ids.length)} of them, those born nearest.
        </p>
      )}
      <p class="ways">
        <button
          type="button"
          class="chip"
          disabled={before === undefined}
          onClick={() => before !== undefined && select(before)}
        >
          ‹ previous
        </button>
        <button
          type="button"
          class="chip"
          disabled={after === undefined}
          onClick={() => after !== undefined && select(after)}
        >
          next ›
        </button>
      </p>
    </section>
  );
}
