/** A span explained: what memory did while it lasted, and ways on. */

import { batch } from "@preact/signals";
import type { Level, SpanCard } from "../api";
import { chooseGrouping } from "../flow/choose";
import { spanCard } from "../flow/questions";
import {
  bytes,
  count,
  counted,
  duration,
  exactBytes,
  kindWord,
  shortName,
  signedBytes,
} from "../format";
import { momentWords } from "../state/moment";
import { about, device, extent } from "../state/recording";
import { axis, by, cursor, of, range, viewKey } from "../state/view";
import { Answered } from "./Answered";
import { Facts } from "./Facts";
import { around, spanRange } from "./life";
import { Arguments, Below, Inside, Left, Links } from "./SpanParts";
import { Way } from "./Ways";

export function Span() {
  return <Answered answer={spanCard.value}>{(data) => <Told data={data} />}</Answered>;
}

function Told({ data }: { data: SpanCard }) {
  return (
    <>
      <h2 class="title" title={data.name}>
        {shortName(data.name)}
      </h2>
      <p class="quiet subtitle">{kindWords(data)}</p>
      <Facts rows={rowsOf(data)} />
      <Ways card={data} />
      <Left key={`left ${data.id}`} card={data} />
      <Links key={`links ${data.id}`} links={data.links} hidden={data.hidden_links} />
      <Arguments card={data} />
      <Inside key={`inside ${data.id}`} inside={data.inside} />
      <Below key={`below ${data.id}`} below={data.below} />
    </>
  );
}

function kindWords({ kind, step, track }: SpanCard): string {
  const word = kindWord(kind);
  const where = kind !== "step" && step !== null ? `${word} in step ${count(step)}` : word;
  return [where, track].filter(Boolean).join(" · ");
}

const whenWords = ({ event, time }: Level): string => momentWords({ event, time, step: null });

function rowsOf(card: SpanCard) {
  const { begin, end, first, stop, before, after, peak, born, freed, kept } = card;
  // Of a step all that happened meanwhile, of a call what its own thread did.
  const where = card.on_thread ? "by its thread" : "while it lasted";
  const change = after.allocated - before.allocated;
  const events = stop - first;
  const level = ({ allocated }: Level) => ({
    value: bytes(allocated),
    title: exactBytes(allocated),
  });
  return [
    {
      word: "Begins",
      value:
        begin === null
          ? "before the window"
          : momentWords({ event: first, time: begin, step: null }),
    },
    {
      word: "Ends",
      value:
        end === null ? "not in the window" : momentWords({ event: stop, time: end, step: null }),
    },
    {
      word: "Lasts",
      value: [begin !== null && end !== null && duration(end - begin), counted(events, "event")]
        .filter(Boolean)
        .join(", "),
    },
    {
      word: "Peak in it",
      value: `${bytes(peak.allocated)} at ${whenWords(peak)}`,
      title: exactBytes(peak.allocated),
    },
    { word: "Before it", ...level(before) },
    {
      word: "After it",
      value: `${bytes(after.allocated)}${change === 0 ? ", the same" : `, ${signedBytes(change)}`}`,
      title: exactBytes(after.allocated),
    },
    {
      word: "Born in it",
      value:
        born.count === 0 ? "nothing" : `${counted(born.count, "allocation")}, ${bytes(born.bytes)}`,
      title: `${exactBytes(born.bytes)} ${where}`,
    },
    {
      word: "Freed in it",
      value:
        freed.count === 0
          ? "nothing"
          : `${counted(freed.count, "allocation")}, ${bytes(freed.bytes)}`,
      title: `${exactBytes(freed.bytes)} ${where}`,
    },
    {
      word: "Net",
      value: born.bytes === freed.bytes ? null : signedBytes(born.bytes - freed.bytes),
      title: `Born less freed, ${where}`,
    },
    {
      word: "Kept",
      value:
        born.count === 0
          ? null
          : kept.count === 0
            ? "nothing of that is alive at its end"
            : `${count(kept.count)} of them, ${bytes(kept.bytes)}, are alive at its end`,
      title: exactBytes(kept.bytes),
    },
  ];
}

function Ways({ card }: { card: SpanCard }) {
  const everything = extent.value;
  if (!everything) return null;
  const place = spanRange(card, axis.value, everything);
  const isGrouping = about.value?.groupings.some(({ key }) => key === card.kind);
  const zoom = () => (range.value = place);
  const jump = ({ event, time }: Level): void =>
    batch(() => {
      cursor.value = event === device.value?.peak_event ? null : event;
      const at = axis.value === "event" ? event : time;
      // What one jumps to should be in view.
      if (range.value && at !== null) range.value = around(range.value, at, everything);
    });
  return (
    <section aria-label="Go to">
      <h3>Go to</h3>
      <p class="ways">
        {place && <Way text="zoom to it" go={zoom} />}
        {viewKey.value !== "trace" && (
          <Way text="in the Trace" go={() => (viewKey.value = "trace")} />
        )}
        <Way text="its peak" go={() => jump(card.peak)} />
        <Way text="just before it" go={() => jump(card.before)} />
        <Way text="its end" go={() => jump(card.after)} />
        {isGrouping && by.value !== card.kind && (
          <Way text={`group by ${card.kind}`} go={() => chooseGrouping(card.kind)} />
        )}
        {place && card.kept.count > 0 && (
          <Way
            text="what it kept"
            go={() =>
              batch(() => {
                zoom();
                of.value = "kept";
                viewKey.value = "flame";
              })
            }
          />
        )}
      </p>
    </section>
  );
}
