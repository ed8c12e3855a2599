#!/usr/bin/env bash
# What the tests need of the machine: Chromium, fonts with Hangul for its screenshots, and docker-compose, which reads
# docker-compose.yml. Debian's packages where we are root on Debian; else Chromium is Playwright's own build.
set -euo pipefail
bin=$1
missing=()
command -v chromium >/dev/null || missing+=(chromium fonts-nanum)
command -v docker-compose >/dev/null || missing+=(docker-compose)
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
elif ! command -v chromium >/dev/null; then
  "$bin/playwright" install chromium
fi
