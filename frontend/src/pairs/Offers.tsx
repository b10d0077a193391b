/** Other recordings that are, or may be, of the process that is looked at: to be shown with it. */

import type { Proposed, Source } from "../api";
import { compare, proposals, showTogether } from "../flow/pairs";
import { sentence } from "../format";
import { source, sourceList } from "../state/recording";
import { clockWords, matchWords, sourceWord } from "./words";

/** The others are in the list of recordings. */
const MOST = 3;

export function Offers() {
  const [here, all] = [source.value, proposals.value];
  if (here === null || here.pair || all === null || all.length === 0) return null;
  return (
    <ul class="pair-offers" aria-label="Recordings of the same process" data-testid="pair-offers">
      {all.slice(0, MOST).map((one) => (
        <Offer key={one.pair} of={one} here={here} />
      ))}
    </ul>
  );
}

function Offer({ of, here }: { of: Proposed; here: Source }) {
  const id = of.snapshot === here.id ? of.trace : of.snapshot;
  const other = sourceList.value?.sources.find((each) => each.id === id);
  if (other === undefined) return null;
  const name = <strong>{sourceWord(other, here)}</strong>;
  const together = (shift: number | null, label: string) => (
    <button type="button" class="button" onClick={() => showTogether(of.snapshot, of.trace, shift)}>
      {label}
    </button>
  );
  return (
    <li class="pair-offer" data-state={of.state}>
      {of.state === "unread" && (
        <>
          <span>{name} may be of the same process.</span>
          <button type="button" class="button" onClick={() => compare(id)}>
            Compare
          </button>
        </>
      )}
      {(of.state === "reading" || of.state === "matching") && (
        <span class="quiet" role="status">
          {of.state === "reading" ? "Reading" : "Comparing with"} {name} …{" "}
          {Math.round(of.fraction * 100)} %
        </span>
      )}
      {of.state === "matched" && of.match !== null && (
        <>
          <span>
            {name} {of.match.certain ? "is" : "may be"} of the same process.{" "}
            <span class="quiet">
              {sentence(matchWords(of.match))} {sentence(clockWords(of.match))}
            </span>
          </span>
          {together(null, "Show together")}
        </>
      )}
      {of.state === "different" && (
        <>
          <span class="quiet">
            {name} does not seem to be of the same process: too little was allocated at the same
            addresses at times that agree.
          </span>
          {together(0, "Show together by their clocks")}
        </>
      )}
      {of.state === "error" && (
        <span class="danger">
          {name}: {sentence(of.error ?? "it cannot be read")}
        </span>
      )}
    </li>
  );
}
