/** The table of lines: its answer, how many lines it asks for, and which line shows its code. */

import { computed, signal } from "@preact/signals";
import { type Frame, getLines, type LineSums } from "../../api";
import { card } from "../../flow/questions";
import { source, sourceList } from "../../state/recording";
import { resource } from "../../state/resource";
import { selection } from "../../state/view";
import { literal } from "../../weighing/phrase";
import { pickedQuery, weighQuery } from "../../weighing/query";

const FIRST_LINES = 200;

export type Model = ReturnType<typeof createModel>;

export function createModel() {
  const limit = signal(FIRST_LINES);
  /** `file:line` of the lines that show their code, and files of libraries that are unfolded. */
  const open = signal<ReadonlySet<string>>(new Set());
  const asked = computed(() => {
    const query = weighQuery.value;
    return query && { ...query, limit: limit.value, ...pickedQuery() };
  });
  const { answer, dispose } = resource(() => asked.value, getLines);
  /** The last answer, if it is about the device that is shown. */
  const shown = computed(() => {
    const { data } = answer.value;
    return data !== null && data.device === weighQuery.value?.device ? data : null;
  });
  const toggle = (key: string): void => {
    const next = new Set(open.value);
    if (!next.delete(key)) next.add(key);
    open.value = next;
  };
  return { limit, open, answer, shown, toggle, dispose };
}

/** Why a row is marked, in words; null where nothing of what is selected went through it. */
export function markOf(sums: LineSums, file: string | null, line?: number | null): string | null {
  if (sums.picked) return "some of the picked group";
  const stack = selection.value?.kind === "allocation" ? card.value.data?.birth_stack : null;
  return stack && isIn(stack, file, line) ? "in the stack of the selected allocation" : null;
}

/** Whether a stack goes through a file, or a line of it. */
export const isIn = (stack: readonly Frame[], file: string | null, line?: number | null): boolean =>
  stack.some((frame) => frame.file === file && (line === undefined || frame.line === line));

/** Why no line of this recording shows its code, in a sentence; null where they may. */
export function whyNoCode(): string | null {
  if (sourceList.value?.shows_code !== true)
    return "To see the code behind a line, start TensorBoard with --memory_show_source.";
  if (source.value?.uploaded)
    return "The code is shown for recordings in the logdir, not for dropped files.";
  return null;
}

/** A filter that lets pass what has the line in its stack. */
export function lineTerm(file: string, line: number | null): string {
  return `stack:/ ${literal(`${file}:${line ?? ""}`)}$/`;
}
