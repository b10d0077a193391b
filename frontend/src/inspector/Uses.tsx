/** The spans that made, last used and freed an allocation, and what ran before it was freed. */

import type { AllocationCard, TraceSpan } from "../api";
import { goToSpan } from "../flow/spans";
import { count, counted, duration, kindWord, shortName } from "../format";
import { Facts } from "./Facts";

/** Names of what ran in between. */
const SHOWN = 8;

const WHY: Readonly<Record<string, string>> = {
  made: "nothing that is known uses it after that",
  launch: "what was launched in what made it",
  forward_backward: "the backward of what made it",
  async: "what ended what made it",
  collective: "the collective that was launched in what made it",
};

export function Uses({ card }: { card: AllocationCard }) {
  const { made_in: made, freed_in: freed, last_use: last, between } = card;
  if (!made && !freed && !last) return null;
  return (
    <section aria-label="Spans">
      <h3>In the trace</h3>
      <Facts
        isMore
        rows={[
          { word: "Made in", value: made && <Go span={made} /> },
          {
            word: "Last use",
            value: last && last.span.id !== made?.id && <Go span={last.span} />,
            title: last ? WHY[last.why] : undefined,
          },
          { word: "Freed in", value: freed && <Go span={freed} /> },
          {
            word: "Not used",
            value: between && between.end > between.begin && duration(between.end - between.begin),
            title: "From the end of its last known use to its free",
          },
        ]}
      />
      {between && between.calls > 0 && (
        <details>
          <summary>
            {counted(between.calls, "span")} began between its last use and its free
          </summary>
          <ul class="span-list">
            {between.rows.slice(0, SHOWN).map((row) => (
              <li key={`${row.kind} ${row.name}`} title={row.name}>
                {row.calls > 1 ? `${count(row.calls)} × ` : ""}
                {shortName(row.name)}
                <span class="quiet">
                  {" "}
                  · {kindWord(row.kind)}, {duration(row.time)}
                </span>
              </li>
            ))}
          </ul>
          {between.found > SHOWN && (
            <p class="quiet small">{counted(between.found - SHOWN, "other name")}</p>
          )}
        </details>
      )}
    </section>
  );
}

function Go({ span }: { span: TraceSpan }) {
  return (
    <button type="button" class="link" title={span.name} onClick={() => goToSpan(span)}>
      {shortName(span.name)}
    </button>
  );
}
