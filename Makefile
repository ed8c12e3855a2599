# `make` alone lists the targets. Everything else calls these: .ci/run, the Dockerfile, and you.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
STAMPS := $(VENV)/.stamps
APP_SOURCES := $(shell find app -name '*.py' -not -path '*/__pycache__/*')
FRONTEND_SOURCES := $(shell find frontend -type f -not -path '*/node_modules/*')

.PHONY: help setup run test check bench prove lint format lock messages docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

setup: $(STAMPS)/runtime $(STAMPS)/compiled static/dist/.built ## what run and test do first: .venv and the front-end bundle

run: setup ## run the lab on http://127.0.0.1:8000
	@exec $(BIN)/cka-lab serve

test: setup $(STAMPS)/dev $(STAMPS)/browser lint ## lint, types, import contracts, then all tests, browser tests included
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(STAMPS)/dev lint ## the quick part: lint, types, import contracts, fast tests (under 60 s)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not browser and not slow"

lint: $(STAMPS)/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(STAMPS)/dev ## rewrite the code as ruff wants it
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup $(STAMPS)/dev $(STAMPS)/browser ## measure and print the table of docs/benchmarks.md
	$(BIN)/cka-lab bench

prove: setup ## prove every exercise
	$(BIN)/cka-lab prove

docs: $(STAMPS)/dev ## write the generated pages of docs/ anew
	$(BIN)/cka-lab docs --write

messages: $(STAMPS)/dev ## list interface texts that a catalogue lacks
	$(BIN)/python -m pytest -q tests/web/test_i18n.py

lock: $(STAMPS)/uv ## resolve the dependencies anew into requirements*.txt
	$(UV) pip compile -q pyproject.toml --universal --upgrade --generate-hashes $(LOCK_FLAGS) -o requirements.txt
	$(UV) pip compile -q pyproject.toml --group dev --universal --generate-hashes $(LOCK_FLAGS) -c requirements.txt -o requirements-dev.txt
LOCK_FLAGS := --no-emit-index-url --no-emit-find-links --no-annotate --no-header

clean: ## remove what setup made; var/ with its database stays
	rm -rf $(VENV) frontend/node_modules static/dist

$(STAMPS)/uv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "The lab needs Python 3.11 or newer; this is %s. Set PYTHON=…" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/runtime: requirements.txt pyproject.toml | $(STAMPS)/uv
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes --compile-bytecode -r requirements.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

$(STAMPS)/dev: requirements-dev.txt $(STAMPS)/runtime
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes --compile-bytecode -r requirements-dev.txt
	@touch $@

# Python writes no bytecode where PYTHONDONTWRITEBYTECODE is set, and each start would compile the app anew.
$(STAMPS)/compiled: $(APP_SOURCES) $(STAMPS)/runtime
	$(BIN)/python -m compileall -q app
	@touch $@

$(STAMPS)/browser: $(STAMPS)/dev
	.ci/browser.sh $(BIN)
	@touch $@

static/dist/.built: $(FRONTEND_SOURCES) | $(STAMPS)/runtime
	frontend/build.sh $(BIN)
	@touch $@
