/** One allocation explained: what it is, its life, where it came from, and ways on. */

import type { AllocationCard, Segment } from "../api";
import { card } from "../flow/questions";
import { bytes, exactBytes } from "../format";
import { momentWords } from "../state/moment";
import { about, isPlan } from "../state/recording";
import { say } from "../state/say";
import { Answered } from "./Answered";
import { type FactRow, Facts } from "./Facts";
import { lifeWords } from "./life";
import { Near } from "./Near";
import { PlanFacts } from "./PlanFacts";
import { Shapes } from "./Shapes";
import { Siblings } from "./Siblings";
import { Stack } from "./Stack";
import { Uses } from "./Uses";
import { Ways } from "./Ways";

export function Allocation() {
  return <Answered answer={card.value}>{(data) => <Told data={data} />}</Answered>;
}

function Told({ data }: { data: AllocationCard }) {
  return (
    <>
      <h2 class="title">{titleOf(data)}</h2>
      {subtitleOf(data) && <p class="quiet subtitle">{subtitleOf(data)}</p>}
      {isPlan.value ? <PlanFacts card={data} /> : <Facts rows={rowsOf(data)} />}
      <Ways card={data} />
      {!isPlan.value && <Uses key={String(data.id)} card={data} />}
      {isPlan.value && <Near id={String(data.id)} />}
      {data.guesses && <Shapes guesses={data.guesses} />}
      <Stacks card={data} />
      {data.siblings && <Siblings of={data.siblings} id={String(data.id)} />}
    </>
  );
}

/** `512.0 MiB activation`. */
function titleOf(data: AllocationCard): string {
  const known = data.category && data.category !== "unknown" ? data.category : say("allocation");
  return `${bytes(sizeOf(data))} ${known}`;
}

/** Its bytes in the basis of the recording. */
function sizeOf(data: AllocationCard): number {
  const size = about.value?.basis === "size" ? data.size : data.requested;
  return size ?? data.requested ?? data.size ?? 0;
}

/** `scores · float32 [4, 16, 1024, 2048]`. */
function subtitleOf(data: AllocationCard): string {
  const type = [data.dtype, data.shape].filter(Boolean).join(" ");
  return [data.name, type].filter(Boolean).join(" · ");
}

/** The title names the category; it is worth a line where it is a guess. */
const categoryWords = (data: AllocationCard): string | null =>
  data.category && data.category_inferred ? `${data.category}, inferred` : null;

function blockWords(data: AllocationCard): string | null {
  const words: string[] = [];
  if (data.size !== null) words.push(exactBytes(data.size));
  if (data.size !== null && data.size_inferred) words.push("(rounding worked out)");
  if (data.address) words.push(`at ${data.address}`);
  return words.join(" ") || null;
}

function rowsOf(data: AllocationCard): FactRow[] {
  const made = [data.op, data.module && `in ${data.module}`].filter(Boolean).join(" ");
  const pending =
    data.free_requested !== null && data.death !== null && data.death - data.free_requested > 1
      ? `asked for at ${momentWords({ event: data.free_requested, time: null, step: null })}, done later`
      : null;
  return [
    { word: "Life", value: lifeWords(data, momentWords) },
    { word: "Free", value: pending, title: "Other streams were still using it" },
    { word: "Category", value: categoryWords(data) },
    { word: "Requested", value: data.requested === null ? null : exactBytes(data.requested) },
    { word: "Block", value: blockWords(data) },
    { word: "Segment", value: segmentWords(data.segment) },
    { word: "Pool", value: data.pool },
    { word: "Stream", value: data.stream },
    { word: "Made by", value: made },
    { word: "Region", value: data.region },
    { word: "During", value: data.annotation },
    { word: "Compiled", value: data.compile_context },
    { word: "Metadata", value: data.user_metadata },
  ];
}

function segmentWords(segment: Segment | null): string | null {
  if (segment === null) return null;
  const kind = [segment.expandable && "expandable", segment.kind].filter(Boolean).join(" ");
  const place = segment.address && `at ${segment.address}`;
  const size = segment.size === null ? null : bytes(segment.size);
  return [kind, size, place].filter(Boolean).join(", ") || null;
}

function Stacks({ card: data }: { card: AllocationCard }) {
  const { birth_stack, forward_stack, death_stack } = data;
  return (
    <>
      {birth_stack ? (
        <Stack title={isPlan.value ? "Source" : "Stack of birth"} frames={birth_stack} />
      ) : (
        <p class="quiet no-stack">
          {data.before_window && !isPlan.value
            ? "It was alive before the window; the recording does not hold the stack that made it."
            : isPlan.value
              ? "The module does not say where in the source it comes from."
              : "The recording holds no stack for it."}
        </p>
      )}
      {forward_stack && <Stack title="Stack of its forward" frames={forward_stack} />}
      {death_stack && <Stack title="Stack of death" frames={death_stack} />}
    </>
  );
}
