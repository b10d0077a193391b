/** The graph as a table, a level at a time: what the frame looked into is made of. */

import { count, counted, share } from "../../format";
import { inverted } from "../../state/view";
import { exactWeight, weight } from "../../weighing/words";
import { factsOf, lookInto, type Model } from "./model";

const MOST = 100;

export function Calls({ model }: { model: Model }) {
  const shown = model.shown.value;
  if (shown === null) return null;
  const { graph, layout } = shown;
  const here = factsOf(model, 0);
  const below = layout.below[0] ?? [];
  if (!here || below.length === 0) return null;
  const name = graph.frames.label[here.frame] ?? "";
  const of = graph.way.length === 1 ? "everything" : name;
  const own = here.own ?? 0;
  return (
    <div class="scroller">
      <table class="calls">
        <caption>
          {inverted.value && graph.way.length > 1 ? `Callers of ${of}` : `Below ${of}`}
          <span class="quiet"> · {counted(below.length, "row")}, choose one to look into it</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Frame</th>
            <th scope="col" class="number">
              {graph.unit === "allocations" ? "Allocations" : "Weight"}
            </th>
            <th scope="col" class="number">
              Of this
            </th>
            <th scope="col" class="number">
              Of all
            </th>
            <th scope="col" class="number">
              Itself
            </th>
            {graph.unit !== "allocations" && (
              <th scope="col" class="number">
                Allocations
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {below.slice(0, MOST).map((node) => (
            <Call key={node} model={model} node={node} whole={here.value} />
          ))}
          {own > 0 && (
            <tr class="quiet">
              <td>{graph.way.length > 1 ? "itself" : "without a stack"}</td>
              <td class="number">{weight(own, graph.unit)}</td>
              <td class="number">{share(own, here.value)}</td>
              <td class="number">{share(own, graph.total)}</td>
              <td />
              {graph.unit !== "allocations" && <td />}
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Call({ model, node, whole }: { model: Model; node: number; whole: number }) {
  const graph = model.shown.value?.graph;
  const facts = factsOf(model, node);
  if (!graph || !facts) return null;
  const { frames, unit, total } = graph;
  const label = frames.label[facts.frame];
  const place = frames.file[facts.frame];
  return (
    <tr>
      <td class="name" title={[frames.function[facts.frame], place].filter(Boolean).join("\n")}>
        {facts.key === null ? (
          label
        ) : (
          <button type="button" class="link clip" onClick={() => lookInto(model, node)}>
            {label}
          </button>
        )}
      </td>
      <td class="number" title={exactWeight(facts.value, unit)}>
        {weight(facts.value, unit)}
      </td>
      <td class="number">{share(facts.value, whole)}</td>
      <td class="number">{share(facts.value, total)}</td>
      <td class="number">{facts.own ? weight(facts.own, unit) : "–"}</td>
      {unit !== "allocations" && <td class="number">{count(facts.count)}</td>}
    </tr>
  );
}
