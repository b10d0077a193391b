/** Colours of frames: whose code they are, or which module's; and ink that can be read on them. */

import type { FlameFrames } from "../api";
import { fileName, packageOf } from "../inspector/folding";
import type { CallColours } from "../state/view";
import { Colours } from "../theme/palette";

/** Colours of whose code it is: your own, a library's; what is no frame, what is merged. */
export const CODE = {
  light: { own: "#f2a65a", library: "#b9c9dc", quiet: "#d9d9d9", merged: "#ececec" },
  dark: { own: "#c97a28", library: "#53708f", quiet: "#6b6b6b", merged: "#4a4a4a" },
} as const;

/** The module a frame is of, in a word; the file for the user's own. */
export function moduleOf(frames: FlameFrames, frame: number): string {
  const file = frames.file[frame] ?? "";
  if (frames.kind[frame] === "own") return fileName(file);
  const name = frames.function[frame] ?? "";
  const found = packageOf([{ function: name, file, line: null, library: true }]);
  return found.split(".")[0] || "libraries";
}

/** A colour for every frame of an answer. */
export function frameColours(
  frames: FlameFrames,
  scheme: CallColours,
  theme: "light" | "dark",
): string[] {
  const plain = CODE[theme];
  const modules = new Colours(theme);
  return frames.kind.map((kind, frame) => {
    if (kind === "root" || kind === "before" || kind === "none") return plain.quiet;
    if (kind === "smaller") return plain.merged;
    if (kind === "folded") return plain.library;
    if (scheme === "module") return modules.of({ key: moduleOf(frames, frame) });
    return kind === "own" ? plain.own : plain.library;
  });
}

const DARK_INK = "#1a1a1a";
const LIGHT_INK = "#ffffff";

/** Black or white, whichever stands out more on `colour` (`#rrggbb`). */
export function inkOn(colour: string): string {
  const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? DARK_INK : LIGHT_INK;
}
