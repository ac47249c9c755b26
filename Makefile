# Three commands on a fresh Debian or Ubuntu machine with Python 3.11 or newer and make:
#   make run     installs what the app needs and opens it on http://localhost:7860
#   make test    installs what the tests need and runs them all, those in a real browser included
#   make check   those that need no browser and no running app: what is quick enough to be run after every change
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 7860
WORKERS ?= 2
# Compiled modules are kept, whatever the machine says: each worker of the tests and each server that they start would compile all of them.
export PYTHONDONTWRITEBYTECODE :=
# What the lock files name is installed as they name it, each file by its hash; then, by the requirements, torch, which they leave out
# (tools/lock.py says why), and what a package needs more on a Python that the lock does not know.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --no-deps --require-hashes
REQUIREMENTS := requirements.txt requirements-dev.txt requirements-cluster.txt
DENO := $(BIN)/deno
SCRIPTS := --quiet --config explorer/frontend/deno.json explorer/frontend explorer/labs tests/frontend tests/bench.js tools/measure.js
# The page at which the unit tests stand.
UNITS := --quiet --no-check --parallel --location 'http://explorer.test/lab?task=copy&_head=2.3&_row=99' tests/frontend
# The tests of a group (a file, or a lab in a mode) share what they have opened, so one worker runs them, in order (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder --durations=15

.PHONY: run test check format lint units types tests quick audit lock readme price release bench clean

run: $(VENV)/app-installed $(VENV)/fused
	$(BIN)/python app.py --port $(PORT)

# Types are checked, and what is known against a package asked for, while the tests wait for something now and then.
# The last line says what the audit came to, or that nobody could be asked: its own lines are far above by then.
test: lint units
	$(MAKE) --no-print-directory -j3 audit types tests
	@cat $(VENV)/audit.txt

check: lint units
	$(MAKE) --no-print-directory -j2 types quick

lint: $(VENV)/dev-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(DENO) fmt --check $(SCRIPTS)
	$(DENO) lint $(SCRIPTS)

# The scripts without a browser; the last line says how much of those modules ran.
units: $(VENV)/dev-installed
	@rm -rf $(VENV)/coverage
	$(DENO) test --coverage=$(VENV)/coverage --coverage-raw-data-only $(UNITS)
	@$(DENO) coverage --quiet --include=explorer $(VENV)/coverage | tail -1

types: $(VENV)/dev-installed
	$(BIN)/mypy
	$(BIN)/python -m tools.script_types

tests: $(VENV)/dev-installed $(VENV)/fused
	sh tools/system-packages.sh packages.txt packages-dev.txt
	$(PYTEST)

quick: $(VENV)/dev-installed $(VENV)/fused
	sh tools/system-packages.sh packages.txt packages-dev.txt
	$(PYTEST) --ignore=tests/browser -m "not browser and not slow"

audit: $(VENV)/dev-installed
	$(BIN)/pip check
	$(BIN)/python tools/audit.py $(VENV)/audit.txt

format: $(VENV)/dev-installed
	$(BIN)/ruff format .
	$(DENO) fmt $(SCRIPTS)
	$(BIN)/ruff check --fix .

lock: $(VENV)/bin/python
	$(BIN)/python tools/lock.py

readme: $(VENV)/dev-installed
	$(BIN)/python -m explorer.readme

price: $(VENV)/bin/python
	$(BIN)/python -m tools.price

# An SBOM and the licences of the packages that the app runs with, in dist.
release: $(VENV)/dev-installed
	$(BIN)/python -m tools.release dist

$(VENV)/bin/python:
	sh tools/make-venv.sh $(PYTHON) $(VENV)

$(VENV)/app-installed: requirements.txt requirements.lock packages.txt | $(VENV)/bin/python
	sh tools/system-packages.sh packages.txt
	$(LOCKED) -r requirements.lock
	$(PIP) -r requirements.txt
	touch $@

# What a compiler makes for this processor (models/layers/fused.py says why); without one the app works as well, only slower.
$(VENV)/fused: models/layers/fused.cpp models/layers/fused_library.py | $(VENV)/app-installed
	$(BIN)/python -m models.layers.fused_library
	touch $@

$(VENV)/dev-installed: $(REQUIREMENTS) requirements-dev.lock requirements-cluster.lock packages.txt packages-dev.txt | $(VENV)/bin/python
	sh tools/system-packages.sh packages.txt packages-dev.txt
	$(LOCKED) -r requirements-dev.lock
	$(LOCKED) -r requirements-cluster.lock
	$(PIP) -r requirements-dev.txt -r requirements-cluster.txt
	touch $@ $(VENV)/app-installed

clean:
	rm -rf $(VENV) dist runs
