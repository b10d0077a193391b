/** What is around a span, below it, linked to it, and said of it: each a way on. */

import { useState } from "preact/hooks";
import type { SpanCard, SpanLink, TraceSpan } from "../api";
import { goToSpan } from "../flow/spans";
import { bytes, count, counted, duration, exactBytes, kindWord, shortName } from "../format";
import { findSpan } from "../state/trace";
import { selection } from "../state/view";
import { Facts } from "./Facts";
import { argumentText, linkWord } from "./spanWords";

/** Entries of a list before the others are asked for. */
const FIRST = 12;

/** The first of a list, and a way to all of it. */
function useFirst<Entry>(all: readonly Entry[]) {
  const [isWhole, setWhole] = useState(false);
  const more = isWhole ? 0 : Math.max(all.length - FIRST, 0);
  const button =
    more > 0 ? (
      <button type="button" class="link small" onClick={() => setWhole(true)}>
        {count(more)} more
      </button>
    ) : null;
  return { shown: isWhole ? all : all.slice(0, FIRST), button };
}

function SpanButton({ span }: { span: TraceSpan }) {
  return (
    <button type="button" class="link" title={span.name} onClick={() => goToSpan(span)}>
      {shortName(span.name)}
    </button>
  );
}

/** The largest of what it left alive. */
export function Left({ card: { left, kept } }: { card: SpanCard }) {
  const { shown, button } = useFirst(left);
  if (left.length === 0) return null;
  const others = kept.count - left.length;
  return (
    <section aria-label="Left alive">
      <h3>Left alive at its end</h3>
      <ul class="span-list">
        {shown.map((row) => {
          const size = row.requested ?? row.size ?? 0;
          return (
            <li key={row.id}>
              <button
                type="button"
                class="link"
                title={exactBytes(size)}
                onClick={() => (selection.value = { kind: "allocation", id: String(row.id) })}
              >
                {bytes(size)}
              </button>{" "}
              {[row.category, row.op ?? row.name].filter(Boolean).join(" · ")}
            </li>
          );
        })}
      </ul>
      {button}
      {others > 0 && <p class="quiet small">and {counted(others, "smaller one")}</p>}
    </section>
  );
}

/** What the source says of it; of what is shown by a short name the whole one too. */
export function Arguments({ card: { args, name } }: { card: SpanCard }) {
  const whole = shortName(name) === name ? {} : { name };
  const entries = Object.entries({ ...args, ...whole });
  if (entries.length === 0) return null;
  return (
    <section aria-label="Arguments">
      <h3>Arguments</h3>
      <Facts
        isMore
        rows={entries.map(([word, value]) => ({
          word,
          value: argumentText(value),
          title: JSON.stringify(value),
        }))}
      />
    </section>
  );
}

/** The spans around it, the outermost first. */
export function Inside({ inside }: { inside: readonly TraceSpan[] }) {
  const [isWhole, setWhole] = useState(false);
  if (inside.length === 0) return null;
  const hidden = isWhole ? 0 : Math.max(inside.length - FIRST, 0);
  return (
    <section class="stack" aria-label="Inside">
      <h3>Inside</h3>
      {hidden > 0 && (
        <button type="button" class="link small" onClick={() => setWhole(true)}>
          {count(hidden)} further out
        </button>
      )}
      <ol>
        {inside.slice(hidden).map((span) => (
          <li key={span.id}>
            <SpanButton span={span} />
            <span class="where"> · {kindWord(span.kind)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What it is made of, by kind and name. */
export function Below({ below }: { below: SpanCard["below"] }) {
  const { shown, button } = useFirst(below.rows);
  if (below.rows.length === 0) return null;
  return (
    <section aria-label="Below it">
      <h3>Right below it: {counted(below.calls, "span")}</h3>
      <table class="span-below">
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">time</th>
            <th scope="col">allocated</th>
            <th scope="col">freed</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={`${row.kind} ${row.name}`}>
              <td>
                <button
                  type="button"
                  class="link"
                  title={`Find ${row.name} (${kindWord(row.kind)})`}
                  onClick={() => (findSpan.value = row.name)}
                >
                  {row.calls > 1 ? `${count(row.calls)} × ` : ""}
                  {shortName(row.name)}
                </button>
              </td>
              <td>{duration(row.time)}</td>
              <td title={exactBytes(row.allocated)}>{row.allocated ? bytes(row.allocated) : ""}</td>
              <td title={exactBytes(row.freed)}>{row.freed ? bytes(row.freed) : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {button}
      {below.found > below.rows.length && (
        <p class="quiet small">
          the first {count(below.rows.length)} of {count(below.found)} names
        </p>
      )}
    </section>
  );
}

/** What led to it, and what it led to. */
export function Links({ links, hidden }: { links: readonly SpanLink[]; hidden: number }) {
  const { shown, button } = useFirst(links);
  if (links.length === 0) return null;
  return (
    <section aria-label="Linked">
      <h3>Linked to it</h3>
      <ul class="span-list">
        {shown.map(({ kind, way, span }) => (
          <li key={`${kind} ${way} ${span.id}`}>
            <span class="quiet">{linkWord(kind, way)}</span> <SpanButton span={span} />
          </li>
        ))}
      </ul>
      {button}
      {hidden > 0 && <p class="quiet small">and {counted(hidden, "other")}</p>}
    </section>
  );
}
