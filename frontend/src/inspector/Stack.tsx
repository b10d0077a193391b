/** A call stack, innermost frame first, library frames folded until asked for. */

import { useState } from "preact/hooks";
import type { Frame } from "../api";
import { counted } from "../format";
import { type Entry, folded, placeOf } from "./folding";

export function Stack({ title, frames }: { title: string; frames: readonly Frame[] }) {
  const entries = folded(frames);
  return (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      <ol>
        {entries.map((entry, index) => (
          // A stack never changes its order, and a frame can be in it twice.
          <Line key={index} entry={entry} />
        ))}
      </ol>
    </section>
  );
}

function Line({ entry }: { entry: Entry }) {
  return entry.kind === "frame" ? <One frame={entry.frame} /> : <Fold {...entry} />;
}

function One({ frame }: { frame: Frame }) {
  const place = placeOf(frame);
  const whole = [frame.function, frame.file && `${frame.file}:${frame.line ?? ""}`];
  return (
    <li class={frame.library ? "library" : ""} title={whole.filter(Boolean).join("\n")}>
      {frame.function || "(unnamed)"}
      {place && <span class="where"> · {place}</span>}
    </li>
  );
}

function Fold({ frames, of }: { frames: Frame[]; of: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <li class="library">
        <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
          {counted(frames.length, "frame")} of {of} {open ? "▾" : "▸"}
        </button>
      </li>
      {open && frames.map((frame, index) => <One key={index} frame={frame} />)}
    </>
  );
}
