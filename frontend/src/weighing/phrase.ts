/** A frame, made into what the filter and the grouping by pattern understand, and nothing else. */

import type { FlameFrames } from "../api";

/** What the server looks through: `function file:line`. Null for what is not one frame. */
export function textOf(frames: FlameFrames, frame: number): string | null {
  const kind = frames.kind[frame];
  if (kind !== "own" && kind !== "library") return null;
  const [name, file, line] = [frames.function[frame], frames.file[frame], frames.line[frame]];
  return `${name ?? ""} ${file ?? ""}:${line ?? ""}`;
}

/** A regular expression that this frame alone matches: `/^main \/home\/me\/train\.py:41$/`. */
export function expressionOf(frames: FlameFrames, frame: number): string | null {
  const text = textOf(frames, frame);
  if (text === null) return null;
  const escaped = literal(text);
  // Names that are too long to send are cut: what is left of them stands at the beginning.
  const cut = escaped.indexOf("…");
  return cut >= 0 ? `/^${escaped.slice(0, cut)}/` : `/^${escaped}$/`;
}

/** A text as a part of an expression that it alone matches. */
export const literal = (text: string): string => text.replace(/[\\/^$.*+?()[\]{}|]/g, "\\$&");

/** `filter` with the term added, unless it is in it. */
export function withTerm(filter: string, term: string): string {
  if (` ${filter} `.includes(` ${term} `)) return filter;
  return filter === "" ? term : `${filter} ${term}`;
}
