/** Pairs of a word and what it is; pairs without a value are left out. */

import type { ComponentChildren } from "preact";

export interface FactRow {
  word: string;
  value: ComponentChildren | null | undefined | false;
  /** The whole of it, or what it means, for the pointer. */
  title?: string | undefined;
}

interface FactsProps {
  rows: readonly FactRow[];
  /** Whether it stands under others that say what it is about. */
  isMore?: boolean;
}

export function Facts({ rows, isMore = false }: FactsProps) {
  return (
    <dl class={isMore ? "facts-more" : "facts-list"}>
      {rows
        .filter(
          ({ value }) => value !== null && value !== undefined && value !== false && value !== "",
        )
        .map(({ word, value, title }) => (
          <div key={word} title={title}>
            <dt>{word}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
