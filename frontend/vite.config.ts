/// <reference types="vitest/config" />
import { defineConfig } from "vite";

// One ES module that exports render(), its style sheet and its workers beside it. TensorBoard serves
// them from a folder whose address the page does not know, so every address is relative, and its
// content security policy forbids workers and files made from data: or blob:. The worker is therefore
// an entry of its own.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../tb_memory_plugin/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    target: "es2022",
    modulePreload: false,
    // What page and worker share; the server takes names in this folder to tell their content.
    rollupOptions: { output: { chunkFileNames: "assets/[name]-[hash].js" } },
    lib: {
      entry: { index: "src/index.ts", drawing: "src/drawing/worker.ts" },
      formats: ["es"],
      fileName: (_, name) => `${name}.js`,
      cssFileName: "index",
    },
  },
  worker: { format: "es" },
  test: {
    include: ["src/**/*.test.ts", "src/**/*.test.tsx"],
    environment: "node",
    testTimeout: 60_000, // brute force takes seconds where the machine has other work
  },
});
