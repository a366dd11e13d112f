import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { defineConfig } from "vitest/config";

// The bundles import a style sheet as its text (js/build.mjs); so must the tests. The name is changed on the way,
// or Vite would take the file for a style sheet of its own.
const ending = ".as-text.js";
const styleAsText = {
  name: "style-as-text",
  enforce: "pre",
  resolveId(id, importer) {
    return id.endsWith(".css") && importer ? resolve(dirname(importer), id) + ending : null;
  },
  async load(id) {
    if (!id.endsWith(`.css${ending}`)) return null;
    return `export default ${JSON.stringify(await readFile(id.slice(0, -ending.length), "utf8"))};`;
  },
};

export default defineConfig({
  plugins: [styleAsText],
  test: {
    include: ["js/tests/**/*.test.ts"],
    environment: "jsdom",
    setupFiles: ["js/tests/quiet.mjs"],
    restoreMocks: true,
    // A deadline measures the machine, not the code; this one is for what hangs.
    testTimeout: 30_000,
  },
});
