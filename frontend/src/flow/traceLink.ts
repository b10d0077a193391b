/** How the Trace view is arranged, as words of a link: short, and nothing where it is as it starts. */

import {
  type Area,
  area,
  type Bookmark,
  bookmarks,
  chosenSteps,
  FIRST_PANELS,
  findSpan,
  findSum,
  foldedTracks,
  hiddenTracks,
  lower,
  PANELS,
  type Panel,
  panels,
  pinnedTracks,
  spanColour,
  sumsKind,
  sumsSort,
} from "../state/trace";

/** The words, as a link has them. */
export interface TraceWords {
  /** `usage180.host-.device…`: panels in order, folded ones with a minus, heights where chosen. */
  panels?: string;
  /** `p2.h7.f1`: tracks that are pinned, hidden and folded. */
  tracks?: string;
  colours?: "net";
  spans?: string;
  /** `begin..end..name`, each encoded, with tildes between. */
  marks?: string;
  /** `steps` where those are what is under the panels. */
  lower?: "steps";
  /** `module.-net`: kind and order of memory by span. */
  sums?: string;
  /** `12.40`: steps that lie over each other, `none` where it is none. */
  steps?: string;
  /** `begin..end..3.7`: a window of some tracks. */
  area?: string;
}

const PANEL = /^([a-z]+)(-?)(\d{2,4})?$/;
const MOST_BOOKMARKS = 100;
const MOST_STEPS = 64;
const NO_STEPS = "none";
const SUMS = /^([a-z_]{1,20})\.(-?[a-z_]{1,20})$/;
const FIRST_SUMS = "op.-allocated";

const sameAs = (one: readonly Panel[], other: readonly Panel[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export function panelsText(all: readonly Panel[]): string | undefined {
  if (sameAs(all, FIRST_PANELS)) return undefined;
  return all
    .map(({ key, isFolded, height }) => `${key}${isFolded ? "-" : ""}${height ?? ""}`)
    .join(".");
}

/** Panels as a link says; those that it does not name stand last, as they come. */
export function panelsOf(text: string | undefined): readonly Panel[] {
  const named = (text ?? "").split(".").flatMap((word): Panel[] => {
    const [, key, fold, height] = PANEL.exec(word) ?? [];
    const known = PANELS.find((each) => each === key);
    if (known === undefined) return [];
    return [{ key: known, isFolded: fold === "-", height: height ? Number(height) : null }];
  });
  const first = named.filter(({ key }, at) => named.findIndex((each) => each.key === key) === at);
  return [...first, ...FIRST_PANELS.filter(({ key }) => !first.some((each) => each.key === key))];
}

const listText = (letter: string, ids: readonly string[]): string[] =>
  ids.map((id) => `${letter}${id}`);

const idsOf = (letter: string, text: string | undefined): string[] =>
  (text ?? "")
    .split(".")
    .filter((word) => word[0] === letter && /^\d{1,6}$/.test(word.slice(1)))
    .map((word) => word.slice(1));

/** A name may hold what stands between the parts. */
const quoted = (name: string): string =>
  encodeURIComponent(name).replace(/[.~!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);

export const bookmarksText = (all: readonly Bookmark[]): string =>
  all.map(({ begin, end, name }) => `${begin}..${end}..${quoted(name)}`).join("~");

export function bookmarksOf(text: string | undefined): Bookmark[] {
  return (text ?? "")
    .split("~")
    .slice(0, MOST_BOOKMARKS)
    .flatMap((word) => {
      const [, begin, end, name] = /^(-?\d{1,16})\.\.(-?\d{1,16})\.\.(.*)$/.exec(word) ?? [];
      if (begin === undefined || end === undefined || Number(begin) >= Number(end)) return [];
      return [{ begin: Number(begin), end: Number(end), name: decoded(name ?? "") }];
    });
}

export const stepsText = (ids: readonly string[]): string =>
  ids.length === 0 ? NO_STEPS : ids.slice(0, MOST_STEPS).join(".");

export function stepsOf(text: string | undefined): readonly string[] | null {
  if (text === NO_STEPS) return [];
  const ids = (text ?? "").split(".").filter((word) => /^\d{1,10}$/.test(word));
  return ids.length === 0 ? null : ids.slice(0, MOST_STEPS);
}

export const areaText = ({ begin, end, tracks }: Area): string =>
  `${begin}..${end}..${tracks.join(".")}`;

export function areaOf(text: string | undefined): Area | null {
  const found = /^(-?\d{1,16})\.\.(-?\d{1,16})\.\.(\d{1,6}(?:\.\d{1,6})*)$/.exec(text ?? "");
  const [, begin = "", end = "", tracks = ""] = found ?? [];
  if (found === null || Number(begin) >= Number(end)) return null;
  return { begin: Number(begin), end: Number(end), tracks: tracks.split(".") };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a hand-made link with a bare percent sign
  }
}

/** What the address should say of the view now; reads signals. */
export function traceWords(): TraceWords {
  const tracks = [
    ...listText("p", pinnedTracks.value),
    ...listText("h", hiddenTracks.value),
    ...listText("f", foldedTracks.value),
  ].join(".");
  const arranged = panelsText(panels.value);
  const sums = `${sumsKind.value}.${sumsSort.value}`;
  return {
    ...(arranged !== undefined && { panels: arranged }),
    ...(tracks !== "" && { tracks }),
    ...(spanColour.value === "net" && { colours: "net" as const }),
    ...(findSpan.value !== "" && { spans: findSpan.value }),
    ...(bookmarks.value.length > 0 && { marks: bookmarksText(bookmarks.value) }),
    ...(lower.value === "steps" && { lower: "steps" as const }),
    ...(sums !== FIRST_SUMS && { sums }),
    ...(chosenSteps.value !== null && { steps: stepsText(chosenSteps.value) }),
    ...(area.value !== null && { area: areaText(area.value) }),
  };
}

/** Arranges the view as the words of a link say. */
export function applyTraceWords(words: TraceWords): void {
  panels.value = panelsOf(words.panels);
  pinnedTracks.value = idsOf("p", words.tracks);
  hiddenTracks.value = idsOf("h", words.tracks);
  foldedTracks.value = idsOf("f", words.tracks);
  spanColour.value = words.colours === "net" ? "net" : "kind";
  findSpan.value = words.spans ?? "";
  bookmarks.value = bookmarksOf(words.marks);
  lower.value = words.lower === "steps" ? "steps" : "spans";
  const [, kind = "op", sort = "-allocated"] = SUMS.exec(words.sums ?? "") ?? [];
  sumsKind.value = kind;
  sumsSort.value = sort;
  chosenSteps.value = stepsOf(words.steps);
  area.value = areaOf(words.area);
}

/** Tracks and bookmarks are of one recording; how panels stand is kept. */
export function forgetTrace(): void {
  pinnedTracks.value = [];
  hiddenTracks.value = [];
  foldedTracks.value = [];
  findSpan.value = "";
  bookmarks.value = [];
  area.value = null;
  findSum.value = "";
  chosenSteps.value = null;
}
