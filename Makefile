# `make` alone lists what there is. Everything runs in .venv, which each target brings up to date by itself.
PYTHON ?= python3
BIN := .venv/bin

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: .venv/installed ## play the whole story on a made-up upstream, without internet
	$(BIN)/watcher demo

test: .venv/developing .venv/emulate/installed .venv/axe/installed ## run all tests
	$(BIN)/pytest -n auto --dist loadgroup $(ARGS)

test-distributed: .venv/developing ## run the stories with workers of dask.distributed, those that see the mirrors and those that do not
	WATCHER_TEST_EXECUTOR=dask $(BIN)/pytest -n 2 $(or $(ARGS),tests/stories)
	WATCHER_TEST_EXECUTOR=dask-apart $(BIN)/pytest -n 2 $(or $(ARGS),tests/stories)

lint: .venv/developing ## style, types, layers, docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/interrogate -q watcher

bench: .venv/benching ## measure everything beside its peers, into benchmarks/RESULTS.md; REPOS=folder ROUNDS=3 ARGS=
	$(BIN)/python benchmarks/run.py $(if $(REPOS),--repos "$(REPOS)") $(if $(ROUNDS),--rounds $(ROUNDS)) $(ARGS)

bench-judgement: .venv/developing ## measure the judgement against known answers, with REPOS=folder of bare repositories
	@test -d "$(REPOS)" || { echo "name a folder of bare repositories: make bench-judgement REPOS=..." >&2; exit 1; }
	$(BIN)/python benchmarks/bench_judgement.py "$(REPOS)" $(ARGS)

reliability: .venv/developing .venv/benching ## bring about all that can go wrong, into docs/reliability.md; ROUNDS=3 ARGS=
	$(BIN)/python -m tests.faults.run $(if $(ROUNDS),--rounds $(ROUNDS)) $(ARGS)

soak: .venv/developing ## an hour of the service in a minute or ten, with faults and kills; ARGS="--seed 2 --speed 6"
	$(BIN)/python -m tests.soak.run $(ARGS)

format: .venv/developing ## put the code into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

dev: .venv/developing ## install everything that working on watcher needs

clean: ## remove what was made here, but not state/
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "watcher needs Python 3.11 or newer; name one: make PYTHON=python3.12 ...")'
	@git --version >/dev/null || { echo "watcher needs git 2.39.5 or newer on PATH" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/created pyproject.toml
	$(BIN)/pip install -q --disable-pip-version-check -e .
	@touch $@

.venv/developing: .venv/created pyproject.toml
	$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/installed

.venv/benching: .venv/created pyproject.toml
	$(BIN)/pip install -q --disable-pip-version-check -e '.[bench]'
	@touch $@ .venv/installed

# An independent GitHub for tests/forges/test_emulate.py. Where npm is not to be had that is skipped, and said.
.venv/emulate/installed: .venv/created tests/forges/emulate/package.json tests/forges/emulate/package-lock.json
	@mkdir -p .venv/emulate && cp tests/forges/emulate/package*.json .venv/emulate
	@if ! command -v npm >/dev/null; then echo "npm is not on PATH: nothing is asked of emulate" >&2; \
	elif cd .venv/emulate && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund; then touch installed; \
	else echo "npm could not install emulate: nothing is asked of it" >&2; fi

# Rules of accessibility for tests/stories/test_browser.py, which needs chromium too. The same holds for them.
.venv/axe/installed: .venv/created tests/pages/axe/package.json tests/pages/axe/package-lock.json
	@mkdir -p .venv/axe && cp tests/pages/axe/package*.json .venv/axe
	@if ! command -v npm >/dev/null; then echo "npm is not on PATH: no page is opened in a browser" >&2; \
	elif cd .venv/axe && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund; then touch installed; \
	else echo "npm could not install axe-core: no page is opened in a browser" >&2; fi

.PHONY: help demo test test-distributed lint bench bench-judgement reliability soak format dev clean
