/** The selected source is being read, could not be read, or is not answered about yet. */

import type { OpenStatus } from "../../api";
import { reopen } from "../../flow/opening";
import { bytes } from "../../format";
import { openStatus, source } from "../../state/recording";
import { formatWord } from "../names";

/** What is going on, as far as the server has said. */
function phaseWords(status: OpenStatus | null): { verb: string; phase: string } {
  if (status?.state === "queued") {
    return { verb: "Waiting to read", phase: "Other recordings are being read first" };
  }
  if (status?.state !== "reading") return { verb: "Opening", phase: "" };
  const percent = `${Math.floor(status.fraction * 100)}\u00a0%`;
  return { verb: "Reading", phase: `${status.phase || "reading"} · ${percent}` };
}

export function Reading() {
  const status = openStatus.value;
  const shown = source.value;
  const { verb, phase } = phaseWords(status);
  const done = status?.state === "reading" ? { max: 1, value: status.fraction } : {};
  return (
    <section class="state soon" aria-busy="true">
      <h1>
        {verb} {shown?.name ?? "the recording"}
      </h1>
      <progress aria-label="Reading the recording" {...done} />
      <p class="quiet" role="status">
        {phase}
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
