// Bundles src/drawing/drawing.bench.ts with the settings of the page's worker, and runs it.

import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const outDir = fileURLToPath(new URL("../node_modules/.bench", import.meta.url));
await build({
  root,
  configFile: false,
  logLevel: "error",
  build: {
    outDir,
    target: "es2022",
    emptyOutDir: true,
    lib: {
      entry: { bench: "src/drawing/drawing.bench.ts" },
      formats: ["es"],
      fileName: () => "bench.js",
    },
  },
});
await import(new URL("../node_modules/.bench/bench.js", import.meta.url));
