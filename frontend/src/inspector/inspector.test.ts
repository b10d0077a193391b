import { describe, expect, it } from "vitest";
import type { Frame } from "../api";
import { fileName, folded, packageOf, placeOf } from "./folding";
import { around, lifeRange, lifeWords, spanRange } from "./life";

const frame = (name: string, file: string, library: boolean, line: number | null = 1): Frame => ({
  function: name,
  file,
  line,
  library,
});
const own = (name: string): Frame => frame(name, "/home/user/model.py", false);
const torch = (name: string, part = "nn/modules/module.py"): Frame =>
  frame(name, `/usr/lib/python3/dist-packages/torch/${part}`, true);

/** Entries as words: `f` for a frame, `2 torch.nn` for a fold. */
const words = (frames: Frame[]): string[] =>
  folded(frames).map((entry) =>
    entry.kind === "frame" ? entry.frame.function : `${entry.frames.length} ${entry.of}`,
  );

describe("a folded stack", () => {
  it("keeps the program's own frames and folds libraries' between them", () => {
    const frames = [own("attn"), torch("a"), torch("b"), torch("c"), own("block"), own("main")];
    expect(words(frames)).toEqual(["attn", "3 torch.nn", "block", "main"]);
  });

  it("leaves a single library frame in its place", () => {
    expect(words([own("a"), torch("call"), own("b")])).toEqual(["a", "call", "b"]);
  });

  it("loses no frame", () => {
    const frames = [torch("a"), torch("b"), own("c"), torch("d"), torch("e")];
    const all = folded(frames).flatMap((entry) =>
      entry.kind === "frame" ? [entry.frame] : entry.frames,
    );
    expect(all).toEqual(frames);
  });

  it("shows the innermost frames of a stack that is all library", () => {
    const frames = ["a", "b", "c", "d", "e"].map((name) => torch(name));
    expect(words(frames)).toEqual(["a", "b", "c", "2 torch.nn"]);
    expect(words([torch("a")])).toEqual(["a"]);
    expect(words([])).toEqual([]);
  });
});

describe("the package of frames", () => {
  it("is as narrow as they share", () => {
    expect(packageOf([torch("a"), torch("b")])).toBe("torch.nn");
    expect(packageOf([torch("a"), torch("b", "optim/adam.py")])).toBe("torch");
    expect(packageOf([frame("a", "/x/site-packages/einops.py", true)])).toBe("einops");
  });

  it("names a few side by side, and many as libraries", () => {
    const at = (name: string): Frame => frame("f", `/x/site-packages/${name}/a.py`, true);
    expect(packageOf([at("torch"), at("transformers")])).toBe("torch, transformers");
    expect(packageOf([at("a"), at("b"), at("c"), at("d")])).toBe("libraries");
    expect(packageOf([frame("f", "", true)])).toBe("libraries");
  });

  it("knows C++ and the standard library", () => {
    expect(packageOf([frame("f", "Allocator.cpp", true)])).toBe("C++");
    expect(packageOf([frame("f", "??", true)])).toBe("C++");
    expect(packageOf([frame("f", "/usr/lib/python3.11/runpy.py", true)])).toBe("Python");
  });
});

describe("the place of a frame", () => {
  it("is short, and absent where there is none", () => {
    expect(placeOf(frame("f", "/a/b/model.py", false, 214))).toBe("model.py:214");
    expect(placeOf(frame("f", "C:\\a\\model.py", false, null))).toBe("model.py");
    expect(placeOf(frame("f", "??", true, 0))).toBe("");
    expect(fileName("model.py")).toBe("model.py");
  });
});

const LIFE = {
  birth: 10,
  death: 20,
  birth_time: 1_000_000_000,
  death_time: 1_310_000_000,
  step: 0,
  before_window: false,
};
const say = ({ event }: { event: number | null }): string => `event ${event}`;

describe("a life", () => {
  it("is said from birth to death with its length", () => {
    expect(lifeWords(LIFE, say)).toBe("event 10 → event 20, 310\u00a0ms long");
  });

  it("says what lies outside the window", () => {
    const before = { ...LIFE, before_window: true, birth: null, birth_time: null };
    expect(lifeWords(before, say)).toBe("before the window → event 20");
    const after = { ...LIFE, death: null, death_time: null };
    expect(lifeWords(after, say)).toBe("event 10 → not freed in the window");
  });

  it("is a range with a margin, inside what there is", () => {
    expect(lifeRange(LIFE, "event", { begin: -1, end: 100 })).toEqual({ begin: 9, end: 21 });
    expect(lifeRange({ ...LIFE, death: null }, "event", { begin: -1, end: 100 })).toEqual({
      begin: 1,
      end: 100,
    });
    const before = { ...LIFE, before_window: true, birth: null };
    expect(lifeRange(before, "event", { begin: -1, end: 100 })).toEqual({ begin: -1, end: 22 });
  });
});

describe("the range of a step", () => {
  const step = { begin: 1000, end: 5000, first: 1, stop: 5 };
  it("is counted as the axis counts, and ends where what is recorded ends", () => {
    expect(spanRange(step, "event", { begin: 0, end: 100 })).toEqual({ begin: 1, end: 5 });
    expect(spanRange(step, "time", { begin: 2000, end: 9000 })).toEqual({ begin: 2000, end: 5000 });
    const open = { ...step, begin: null, end: null };
    expect(spanRange(open, "time", { begin: 0, end: 9000 })).toEqual({ begin: 0, end: 9000 });
  });
  it("is none where nothing happened in it", () => {
    expect(spanRange({ ...step, stop: 1 }, "event", { begin: 0, end: 100 })).toBeNull();
  });
});

describe("jumping to a moment", () => {
  const everything = { begin: 0, end: 1000 };
  it("moves the window as little as it must, and never out of the recording", () => {
    expect(around({ begin: 100, end: 200 }, 150, everything)).toEqual({ begin: 100, end: 200 });
    expect(around({ begin: 100, end: 200 }, 500, everything)).toEqual({ begin: 450, end: 550 });
    expect(around({ begin: 100, end: 200 }, 10, everything)).toEqual({ begin: 0, end: 100 });
    expect(around({ begin: 100, end: 200 }, 1000, everything)).toEqual({ begin: 900, end: 1000 });
  });
});
