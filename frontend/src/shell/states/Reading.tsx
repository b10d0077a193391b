/** The selected source is being read, could not be read, or is not answered about yet. */

import { reopen } from "../../flow/opening";
import { bytes } from "../../format";
import { openStatus, source } from "../../state/recording";
import { formatWord } from "../names";

export function Reading() {
  const status = openStatus.value;
  const shown = source.value;
  const percent = Math.floor((status?.fraction ?? 0) * 100);
  const waiting = status === null || status.state === "queued" || status.state === "new";
  return (
    <section class="state" aria-busy="true">
      <h1>
        {waiting ? "Waiting to read" : "Reading"} {shown?.name ?? "the recording"}
      </h1>
      <progress
        aria-label="Reading the recording"
        {...(waiting ? {} : { max: 100, value: percent })}
      />
      <p class="quiet" role="status">
        {waiting
          ? "Other recordings are being read first"
          : `${status.phase || "reading"} · ${percent} %`}
      </p>
      {shown && (
        <p class="quiet small">
          {formatWord(shown.format)}, {bytes(shown.bytes)}. It is read once; the next time it opens
          at once.
        </p>
      )}
    </section>
  );
}

export function Failed() {
  return (
    <section class="state" role="alert">
      <h1>This recording cannot be shown</h1>
      <p class="explanation">{openStatus.value?.error ?? "The reason is not known."}</p>
      <p>
        <button type="button" class="button" onClick={reopen}>
          Try again
        </button>
      </p>
    </section>
  );
}
