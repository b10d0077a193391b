/** The columns of the list of allocations: those that the recording has something to say in. */

import type { LifeRow, LivesPage } from "../../api";
import { bytes, count, exactBytes, times } from "../../format";
import { SUM_ONLY } from "../../state/groups";
import { about, isPlan, shownPlan } from "../../state/recording";
import { say } from "../../state/say";
import { birthWords, deathWords, formWords, lifeWords } from "./model";

export interface Column {
  /** What the route sorts by; null where it does not. */
  readonly column: string | null;
  readonly text: string;
  readonly isText?: boolean;
  /** Of few letters: it takes no more room than it needs. */
  readonly isShort?: boolean;
  readonly of: (row: LifeRow) => string;
  readonly title?: (row: LifeRow) => string | undefined;
}

const tells = (grouping: string): boolean =>
  about.value?.groupings.some(({ key }) => key === grouping) === true;

/** Where there are no stacks, allocations are called by their operator already. */
const hasOperators = (): boolean =>
  tells("op") && about.value?.missing.every(({ what }) => what !== "stacks") === true;

const size = (column: string, text: string, of: (row: LifeRow) => number | null): Column => ({
  column,
  text,
  of: (row) => amount(of(row), bytes),
  title: (row) => amount(of(row), exactBytes) || undefined,
});

const amount = (value: number | null, words: (value: number) => string): string =>
  value === null ? "" : words(value);

export function livesColumns(page: LivesPage): readonly Column[] {
  const isRounded = about.value?.basis === "size";
  const isKnown = page.rows.some((row) => (isRounded ? row.requested : row.size) !== null);
  const hasOther = isKnown && (!isPlan.value || isPadded(page));
  const label: Column = {
    column: "label",
    text: say("Allocation"),
    isText: true,
    of: (row) => (row.sum ? `${row.label} (sum only)` : row.label),
    title: (row) => (row.sum ? SUM_ONLY : row.label),
  };
  const columns: (Column | false)[] = [
    label,
    isPlan.value && tells("annotation") && word("annotation", "Opcode", (row) => row.annotation),
    hasOperators() && word("op", say("Operator"), (row) => row.op, false),
    size("bytes", isRounded ? "Size" : "Requested", (row) =>
      isRounded ? row.size : row.requested,
    ),
    hasOther &&
      (isRounded
        ? size("requested", say("Requested"), (row) => row.requested)
        : size("size", "Block", (row) => row.size)),
    ...(isPlan.value && hasOther ? PADDING : []),
    { column: "birth", text: isPlan.value ? "Birth" : "Allocated", of: birthWords },
    { column: "death", text: isPlan.value ? "Death" : "Released", of: deathWords },
    { column: isPlan.value ? null : "duration", text: "Lived", of: lifeWords },
    ...extras(),
    isPlan.value &&
      page.rows.some(({ where }) => where) &&
      word("where", "Source line", (row) => row.where),
  ];
  return columns.filter((each) => each !== false);
}

/** Whether anything of the plan is padded: nothing of it is on CPUs and GPUs. */
const isPadded = (page: LivesPage): boolean => {
  const { peak, unpadded_peak } = shownPlan.value?.overview ?? { peak: 0, unpadded_peak: 0 };
  return peak !== unpadded_peak || page.rows.some((row) => padding(row) !== 0);
};

const padding = (row: LifeRow): number | null =>
  row.size === null || row.requested === null ? null : row.size - row.requested;

/** What tiles add, and how many times as large that makes it. */
const PADDING: readonly Column[] = [
  size("padding", "Padding", padding),
  {
    column: "expansion",
    text: "Expansion",
    of: (row) =>
      row.size === null || row.requested === null ? "" : times(row.size, row.requested),
  },
];

const word = (
  column: string,
  text: string,
  of: (row: LifeRow) => string | null | undefined,
  isShort = true,
): Column => ({ column, text, isText: true, isShort, of: (row) => of(row) ?? "" });

/** By the grouping that says so. */
const extras = (): Column[] =>
  [
    { grouping: "category", is: word("category", "Category", (row) => row.category) },
    { grouping: "dtype_shape", is: word("shape", "Type, shape", formWords) },
    { grouping: "region", is: word("region", say("Region"), (row) => row.region) },
    { grouping: "module", is: word("module", say("Module"), (row) => row.module) },
    {
      grouping: "step",
      is: word("step", "Step", (row) => (row.step === null ? "" : count(row.step))),
    },
  ]
    .filter(({ grouping }) => tells(grouping))
    .map(({ is }) => is);
