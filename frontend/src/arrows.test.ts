import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = dirname(fileURLToPath(import.meta.url));
const VIEWS = "views/";

const sources = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((path) =>
  /\.tsx?$/.test(path),
);

/** What a file imports of ours, as paths from the root. */
const importsOf = (path: string): string[] =>
  [...readFileSync(join(ROOT, path), "utf8").matchAll(/(?:from|import) "(\.[^"]*)"/g)].map(
    ([, to]) => relative(ROOT, resolve(ROOT, dirname(path), to as string)),
  );

/** The view that a path is in; none for the door and the registry of views. */
const viewOf = (path: string): string | null =>
  path.startsWith(VIEWS) && path.split("/").length > 2 ? (path.split("/")[1] as string) : null;

it("is read whole", () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.flatMap(importsOf).length).toBeGreaterThan(1000);
  expect(sources.map(viewOf)).toContain("allocations");
});

it("has no arrows from one view to another, nor from what views share to a view", () => {
  const wrong = sources.flatMap((path) =>
    importsOf(path)
      .filter((to) => viewOf(to) !== null && viewOf(to) !== viewOf(path))
      .filter(() => path !== "views/index.ts")
      .map((to) => `${path} → ${to}`),
  );
  expect(wrong).toEqual([]);
});
