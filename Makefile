# `make demo` and `make test` set up all they need; `make help` lists the other targets.

.DEFAULT_GOAL := help
SHELL := /bin/sh

# Passed through the environment, so that a question may contain quotes and spaces.
export FOLDER ASK
# The first interpreter that is new enough; choose another with make PYTHON=/path/to/python.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && \
	{ echo $$p; break; }; done)
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# One environment with three stamp files: for the demo, for the docs and for the tests. The tests
# need all packages.
DEMO_READY := .venv/.demo-ready
DOCS_READY := .venv/.docs-ready
READY := .venv/.ready
INSTALL := .ci/installing $(BIN)/python -m pip install --disable-pip-version-check \
	--constraint constraints.txt --editable
# The tests need the core and each distribution of integrations/, all from this checkout.
PROJECTS := $(wildcard integrations/*/pyproject.toml)
ALL := '.[test]' $(patsubst %/pyproject.toml,--editable ./%,$(PROJECTS))
OLD := .venv-compat/bin
# The tests of a file stay in one process, because they share fixtures. One thread each: more
# threads in several processes would only wait for each other. Files run in the order of their
# names, so that a file with few but long tests does not come last. Compiled tests are kept, since
# compiling them takes ten seconds in each process.
TEST := env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
# Tests of what measures the package or makes corpora for it: a step of their own.
MEASURING := tests/benchmarks tests/synth
PACKAGE := $(addprefix --ignore=,$(MEASURING))
# The variable silences a note about the next MkDocs; warnings about these pages stay.
MKDOCS := env NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
OTHER := $(BIN)/mypy --config-file .ci/platforms.toml --cache-dir .mypy_cache/other sat_retriever
CODE := sat_retriever integrations tests benchmarks examples .ci conftest.py hatch_build.py

.PHONY: demo test test-benchmarks check compat docs format tables release release-check publish clean help

demo: $(DEMO_READY) ## Index real workbooks and answer questions (FOLDER=path, ASK="…": your own)
	@$(BIN)/python examples/demo.py $${FOLDER:+"$$FOLDER"} $${ASK:+--ask "$$ASK"}

test: $(READY) ## Run the tests of the package on all cores; neither slow ones nor test-benchmarks
	@$(TEST) $(PACKAGE)

test-benchmarks: $(READY) ## Run the tests of benchmarks and made corpora, except the slow ones
	@$(TEST) $(MEASURING)

# Quick checks come before slow ones. An empty -m selects the slow tests, too.
check: $(READY) ## Format, lint, import contracts, types, stale pages and all tests, slow ones too
	@.ci/timed "format" $(BIN)/ruff format --check $(CODE)
	@.ci/timed "lint" $(BIN)/ruff check $(CODE)
	@.ci/timed "import contracts" $(BIN)/lint-imports
	@.ci/timed "size and structure" $(BIN)/python .ci/house.py
	@.ci/timed "types" $(BIN)/mypy
	@.ci/timed "types on Windows" $(OTHER) --platform win32
	@.ci/timed "types on macOS" $(OTHER) --platform darwin
	@.ci/timed "settings table" $(BIN)/python .ci/settings_table.py --check
	@.ci/timed "commands" $(BIN)/python .ci/command_reference.py --check
	@.ci/timed "skip codes" $(BIN)/python .ci/skip_codes.py --check
	@.ci/timed "metrics" $(BIN)/python .ci/metrics_table.py --check
	@.ci/timed "docs" $(MKDOCS)
	@.ci/timed "result tables" $(BIN)/python -m benchmarks tables --check
	@.ci/timed "tests" $(TEST) -m "" $(PACKAGE)
	@.ci/timed "tests of benchmarks and made corpora" $(TEST) -m "" $(MEASURING)

compat: ## Test the integrations with the oldest supported frameworks and clients
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
	@test -x $(OLD)/python || $(PYTHON) -m venv .venv-compat
	@.ci/installing $(OLD)/python -m pip install --disable-pip-version-check \
		--constraint constraints.txt --constraint .ci/oldest.txt --editable $(ALL)
	@$(OLD)/python -m pytest integrations/*/tests tests/integrations tests/tools/mcp \
		tests/cli/test_errors.py tests/llm tests/evaluation/llm \
		-W "ignore:The 'validate_default' attribute"

docs: $(DOCS_READY) ## Build the documentation into site/; every warning is an error
	@$(MKDOCS)
	@echo "open site/index.html in a browser"

format: $(READY) ## Format and fix what can be fixed
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

tables: $(READY) ## Update the generated parts of the README and the docs
	$(BIN)/python -m benchmarks tables
	$(BIN)/python .ci/settings_table.py
	$(BIN)/python .ci/command_reference.py
	$(BIN)/python .ci/skip_codes.py
	$(BIN)/python .ci/metrics_table.py

release: $(READY) ## Build all distributions twice and check them (dist/, build/release/report.md)
	@$(BIN)/python .ci/release.py

release-check: $(READY) ## Install what `make release` built and follow each README, on every Python here
	@$(BIN)/python .ci/release_check.py

# The workflow that the tag starts uploads the files. Until the push nothing leaves this machine.
publish: $(READY) ## Tag a release, check it and push it, which publishes it (VERSION=0.2.0)
	@$(BIN)/python .ci/publish.py $(VERSION)
	@$(MAKE) release release-check && git push --atomic origin HEAD "v$(VERSION)" || { \
		echo "nothing was pushed; to undo the commit and its tag:" \
		"git tag --delete v$(VERSION) && git reset --hard HEAD~1" >&2; exit 1; }

clean: ## Remove all generated files and the environment
	rm -rf .venv .venv-compat demo build dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache \
		.ruff_cache
	find $(CODE) -type d -name __pycache__ -prune -exec rm -rf {} +

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' Makefile

# A stamp is newer than its prerequisites, so a second run starts at once.
$(DEMO_READY): pyproject.toml constraints.txt | $(BIN)/python
	@echo "setting up .venv for the demo, without torch: a minute or two, once"
	@$(INSTALL) '.[synth]'
	@touch $@

$(DOCS_READY): pyproject.toml constraints.txt | $(BIN)/python
	@echo "setting up .venv for the docs, without torch: a minute or two, once"
	@$(INSTALL) '.[docs]'
	@touch $@

$(READY): pyproject.toml $(PROJECTS) constraints.txt | $(BIN)/python
	@echo "setting up .venv for the tests: a few minutes, once"
	@$(INSTALL) $(ALL)
	@touch $(DEMO_READY) $(DOCS_READY) $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with its venv module is needed;" \
		"install it, or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -m venv .venv
