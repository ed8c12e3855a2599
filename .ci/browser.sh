#!/usr/bin/env bash
# Chromium for the browser tests, and fonts with Hangul for their screenshots: Debian's packages where we are root
# on Debian, else Playwright's own build.
set -euo pipefail
bin=$1
if command -v chromium >/dev/null; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends chromium fonts-nanum >/dev/null
else
  "$bin/playwright" install chromium
fi
