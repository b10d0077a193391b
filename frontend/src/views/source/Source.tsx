/** The Source view: the same bytes as the flame graph by file and line, the user's own lines first. */

import { useEffect, useMemo } from "preact/hooks";
import { Filter } from "../../components/Filter";
import { counted, grouped } from "../../format";
import { hasHistory } from "../../state/recording";
import { filter } from "../../state/view";
import "../../components/tables.css";
import { Heading } from "../../weighing/Heading";
import { Overview, WeighingChoice } from "../../weighing/Weighing";
import { weight } from "../../weighing/words";
import { File } from "./File";
import { createModel, type Model, whyNoCode } from "./model";
import "./source.css";

export function Source() {
  const model = useMemo(createModel, []);
  useEffect(() => model.dispose, [model]);
  return (
    <div class="weighed source">
      {hasHistory.value && <Overview />}
      <div class="tools">
        <WeighingChoice />
        <span class="right">
          <Filter />
        </span>
      </div>
      <Heading answer={model.shown.value} failed={model.answer.value.error !== null} />
      <NoCode />
      <Lines model={model} />
    </div>
  );
}

/** How to have the code shown, where it is not. */
function NoCode() {
  const why = whyNoCode();
  return why === null ? null : (
    <p class="quiet small no-code" role="note">
      {why}
    </p>
  );
}

function Lines({ model }: { model: Model }) {
  const { error, loading } = model.answer.value;
  const answer = model.shown.value;
  if (error !== null) {
    return (
      <p class="notice danger" role="alert">
        {error}
      </p>
    );
  }
  if (answer === null) return null;
  if (answer.count === 0) {
    return (
      <p class="notice quiet">
        {filter.value ? "Nothing of this passes the filter." : "There is nothing of this here."}
      </p>
    );
  }
  return (
    <div class="scroller" aria-busy={loading}>
      <table class="lines">
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col" class="number" title="Its innermost line of your own code is this one">
              Made here
            </th>
            <th scope="col">Share</th>
            <th scope="col" class="number" title="The line is anywhere in the stack">
              Through
            </th>
            {answer.unit !== "allocations" && (
              <th scope="col" class="number" title="Allocations that were made here">
                Allocations
              </th>
            )}
          </tr>
        </thead>
        {answer.files.map((file) => (
          <File key={file.file ?? ""} model={model} file={file} answer={answer} />
        ))}
        <tbody class="nowhere">
          {answer.nowhere.map(({ label, value, count, picked }) => (
            <tr key={label} class={picked ? "holds" : undefined}>
              <td>{label}</td>
              <td class="number">{weight(value, answer.unit)}</td>
              <td />
              <td />
              {answer.unit !== "allocations" && <td class="number">{grouped(count)}</td>}
            </tr>
          ))}
          {answer.rest.lines > 0 && (
            <tr>
              <td>
                {counted(answer.rest.lines, "more line")}{" "}
                <button type="button" class="link" onClick={() => (model.limit.value *= 4)}>
                  show more
                </button>
              </td>
              <td class="number">{weight(answer.rest.made, answer.unit)}</td>
              <td colSpan={3} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
