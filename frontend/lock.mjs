// Removes the addresses of packages from the lock file: the integrity hashes say enough, and every machine has its
// own registry.
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
for (const entry of Object.values(lock.packages)) delete entry.resolved;
writeFileSync(path, JSON.stringify(lock, null, 2) + "\n");
