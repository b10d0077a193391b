// Turns the run-time packages in node_modules into THIRD_PARTY_LICENSES.txt beside the built page.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

/** Names of every package that the bundle can hold: the dependencies and theirs. */
function closure(names, seen = new Set()) {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const { dependencies = {} } = read(join(root, "node_modules", name, "package.json"));
    closure(Object.keys(dependencies), seen);
  }
  return [...seen].sort();
}

function notice(name) {
  const folder = join(root, "node_modules", name);
  const { version, license } = read(join(folder, "package.json"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  if (files.length === 0) throw new Error(`${name} ships no licence text`);
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}

const { dependencies } = read(join(root, "package.json"));
const notices = closure(Object.keys(dependencies)).map(notice);
const head = "The page in this folder holds code of the packages below, under their licences.\n";
const target = join(root, "../tb_memory_plugin/static/THIRD_PARTY_LICENSES.txt");
writeFileSync(target, [head, ...notices].join(`\n${"-".repeat(80)}\n\n`));
