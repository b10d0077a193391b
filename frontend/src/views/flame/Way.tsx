/** The frame that is looked into: the way to it, and what can be done with it in other views. */

import { chooseGrouping } from "../../flow/choose";
import { share } from "../../format";
import { call, filter, pattern, selection } from "../../state/view";
import { expressionOf, withTerm } from "../../weighing/phrase";
import { weight } from "../../weighing/words";
import { lookInto, type Model } from "./model";

/** Steps of the way that are named; those between are left out. */
const NAMED = 4;

export function Way({ model }: { model: Model }) {
  const graph = model.shown.value?.graph;
  if (!graph || graph.way.length < 2) return null;
  const { way, frames, unit, total } = graph;
  const last = way.length - 1;
  const here = way[last];
  if (!here) return null;
  const expression = expressionOf(frames, here.frame);
  return (
    <section class="flame-way" aria-label="The frame looked into">
      <nav aria-label="Way to the frame">
        {way.map(({ frame, key }, step) =>
          step > 0 && step <= last - NAMED ? (
            step === last - NAMED && <span key={key}>… › </span>
          ) : step === last ? (
            <strong key={key}>{frames.label[frame]}</strong>
          ) : (
            <span key={key}>
              <button type="button" class="link" onClick={() => lookInto(model, ~step)}>
                {frames.label[frame]}
              </button>{" "}
              ›{" "}
            </span>
          ),
        )}{" "}
        <span class="quiet">
          {weight(here.value, unit)}, {share(here.value, total)} of all
        </span>
      </nav>
      <span class="flame-deeds">
        <button
          type="button"
          class="chip"
          disabled={expression === null}
          title={
            expression === null
              ? "Only a single frame can be filtered by"
              : "Leave out, in all views, what does not have this frame in its stack"
          }
          onClick={() => {
            filter.value = withTerm(filter.value, `stack:${expression}`);
            call.value = null;
          }}
        >
          filter by this frame
        </button>
        <button
          type="button"
          class="chip"
          disabled={expression === null}
          title={
            expression === null
              ? "Only a single frame can be grouped by"
              : "Group, in all views, by whether stacks have this frame"
          }
          onClick={() => {
            pattern.value = expression ?? "";
            chooseGrouping("pattern");
            // Its key is the pattern itself: the chart lets the others stand back.
            selection.value = { kind: "group", by: "pattern", key: expression ?? "" };
          }}
        >
          group by this frame
        </button>
        <button type="button" class="chip" onClick={() => (call.value = null)}>
          show everything
        </button>
      </span>
    </section>
  );
}
