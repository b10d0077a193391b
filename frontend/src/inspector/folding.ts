/** A call stack folded for reading: the program's own frames, libraries' between them in one line. */

import type { Frame } from "../api";

export type Entry =
  | { kind: "frame"; frame: Frame }
  | { kind: "folded"; frames: Frame[]; of: string };

/** Runs of this many library frames and more are folded; a single one is shorter than its fold. */
const FOLD_FROM = 2;
/** Of a stack that is all library, the innermost frames still say what was called. */
const KEPT_OF_LIBRARY = 3;

/** Frames (innermost first) as lines to show, runs of library frames folded. */
export function folded(frames: readonly Frame[]): Entry[] {
  const ownFrames = frames.some(({ library }) => !library);
  const kept = ownFrames ? 0 : Math.min(KEPT_OF_LIBRARY, frames.length);
  const entries: Entry[] = frames.slice(0, kept).map((frame) => ({ kind: "frame", frame }));
  let run: Frame[] = [];
  const flush = (): void => {
    if (run.length >= FOLD_FROM) entries.push({ kind: "folded", frames: run, of: packageOf(run) });
    else entries.push(...run.map((frame): Entry => ({ kind: "frame", frame })));
    run = [];
  };
  for (const frame of frames.slice(kept)) {
    if (frame.library) {
      run.push(frame);
      continue;
    }
    flush();
    entries.push({ kind: "frame", frame });
  }
  flush();
  return entries;
}

/** The package that all frames are of, as narrow as they share: `torch.nn`, `torch`, `libraries`. */
export function packageOf(frames: readonly Frame[]): string {
  const names = frames.map(({ file }) => moduleOf(file));
  const [first = []] = names;
  let shared = first;
  for (const name of names) {
    let length = 0;
    while (length < shared.length && shared[length] === name[length]) length += 1;
    shared = shared.slice(0, length);
  }
  if (shared.length > 0) return shared.slice(0, 2).join(".");
  const tops = [...new Set(names.map(([top]) => top).filter((top) => top !== undefined))];
  return tops.length > 0 && tops.length <= 3 ? tops.join(", ") : "libraries";
}

/** `…/site-packages/torch/nn/modules/linear.py` → `["torch", "nn", "modules"]`. */
function moduleOf(file: string): string[] {
  const path = file.replaceAll("\\", "/");
  const installed = /(?:site|dist)-packages\/(.+)$/.exec(path);
  if (installed?.[1]) return parts(installed[1]);
  const standard = /\/lib\/python[\d.]+\/(.+)$/.exec(path);
  if (standard?.[1]) return ["Python"];
  if (/\.(cc|cpp|cxx|cu|h|hpp|cuh|c)$|\.so(\.|$)|^\?\?$/.test(path)) return ["C++"];
  const torch = /(?:^|\/)(torch\/.+)$/.exec(path);
  return torch?.[1] ? parts(torch[1]) : [];
}

function parts(path: string): string[] {
  const words = path.split("/");
  const last = words.pop() ?? "";
  return words.length > 0 ? words : [last.replace(/\.py$/, "")];
}

/** The last part of a path, whichever way its slashes lean. */
export const fileName = (path: string): string => path.split(/[\\/]/).pop() || path;

/** `model.py:214`; frames without a place (built-ins, C++ symbols) have none. */
export function placeOf({ file, line }: Frame): string {
  if (!file || file === "??") return "";
  return line === null || line <= 0 ? fileName(file) : `${fileName(file)}:${line}`;
}
