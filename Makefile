# Every target works on a fresh machine with Python 3.11+ alone: it makes .venv first.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test test-slow check fix bench docs clean

ifdef UV
ENVIRONMENT := uv venv --quiet --allow-existing --python $(PYTHON) .venv
INSTALL := uv pip install --quiet --python $(BIN)/python
else
ENVIRONMENT := $(PYTHON) -m venv .venv
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

# What a user installs, nothing more: a tour has no need of ten times as many packages.
.venv/plain: pyproject.toml
	$(ENVIRONMENT)
	$(INSTALL) -e .
	@touch $@

.venv/made: .venv/plain
	$(INSTALL) -e '.[dev]'
	@touch $@

demo: .venv/plain
	$(BIN)/modularsql demo

test: .venv/made
	$(BIN)/python -m pytest

test-slow: .venv/made
	$(BIN)/python -m pytest -m slow

check: .venv/made
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

fix: .venv/made
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/made
	$(BIN)/python -m benchmarks.guard > docs/benchmarks.md
	@cat docs/benchmarks.md

docs: .venv/made
	$(BIN)/python scripts/make_docs.py

clean:
	rm -rf .venv build dist
