# Everything runs in .venv, which `make setup` builds from requirements/dev.txt.
PYTHON ?= python3
BENCH  ?=

VENV := .venv
BIN  := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-deep check bench mutants lock

help: ## Say what can be made.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: $(VENV)/.installed ## Build .venv; does nothing when it is current.

demo: setup ## See it at work, in a few seconds.
	$(BIN)/python -m demo

test: setup ## Run the tests and every example in the docs (minutes).
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not deep" --durations=10

test-deep: setup ## Run every test, the exhaustive ones too.
	$(BIN)/python -m pytest -n 2 --dist loadgroup --durations=10

check: setup ## Lint, format, types, and the direction of imports.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

bench: setup ## Measure against the peers; one only: make bench BENCH=noise.
	$(BIN)/python -m bench $(BENCH)

mutants: setup ## Plant known bugs in a copy, one at a time, and see which check catches each.
	$(BIN)/python -m tests.audit.mutants

lock: ## Resolve the requirements anew (uv, in a throwaway environment).
	PYTHON=$(PYTHON) requirements/lock

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "discreet needs Python 3.11 or later, and '$(PYTHON)' is not it." >&2; \
		echo "" >&2; \
		echo "Hint: make setup PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments: its ensurepip module is missing." >&2; \
		echo "" >&2; \
		echo "Hint: on Debian or Ubuntu, apt install python3-venv" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.locked: requirements/dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.locked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@
