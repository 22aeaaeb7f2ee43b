// Bundles the third-party scripts once, so that nothing has to be built on a user's machine.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const target = resolve("../../src/lissom/studio/vendor");
const MOST_BYTES = 1_600_000;
mkdirSync(target, { recursive: true });

const result = await build({
  entryPoints: ["editor.js", "yaml.js", "chart.js"],
  bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none", metafile: true, outdir: target,
});
copyFileSync("node_modules/uplot/dist/uPlot.min.css", join(target, "chart.css"));

// What checks the pages for readers of screens, in the tests alone.
const checks = resolve("../../tests/studio/axe-core");
mkdirSync(checks, { recursive: true });
for (const name of ["axe.min.js", "LICENSE"]) copyFileSync(join("node_modules/axe-core", name), join(checks, name));

// Name, version and licence of every package that went into a bundle.
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const match = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (match) packages.add(match[1]);
}
const parts = [...packages].sort().map((name) => {
  const folder = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json")));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(join(target, "LICENSES.txt"), parts.join("\n" + "-".repeat(80) + "\n\n"));

const scripts = readdirSync(target).filter((name) => name.endsWith(".js"));
const bytes = scripts.reduce((sum, name) => sum + statSync(join(target, name)).size, 0);
console.log(`${scripts.length} scripts, ${bytes} bytes, ${packages.size} packages`);
if (bytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes`);
