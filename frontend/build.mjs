// Bundles what pages load. Same input, same bytes: no dates, no absolute paths, fixed targets.
import { build } from "esbuild";
import { rm } from "node:fs/promises";

const out = new URL("../static/dist/", import.meta.url).pathname;
await rm(out, { recursive: true, force: true });
await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { app: "src/app.js", editor: "src/editor.js" },
  outdir: out,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
