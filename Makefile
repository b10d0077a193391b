# The two that matter: `make demo` and `make test`. Everything they need they set up themselves.

PYTHON ?= python3
PORT ?= 6006
# What to pip-install as PyTorch. On machines without a GPU a CPU build saves gigabytes.
TORCH_SPEC ?= torch==2.13.0
# A Chromium or Chrome to test with; fetched as Debian's package when there is none and we are root.
CHROMIUM ?=
export CHROMIUM TORCH_SPEC
# Images often say that Python shall keep nothing it compiled; the tests start some thousand Pythons.
unexport PYTHONDONTWRITEBYTECODE

NEW := .venv/bin
OLD := .venv-oldest/bin
PYTEST := -m pytest -p no:cacheprovider --numprocesses 3 --dist worksteal
# What pip builds into the package, where there is a C compiler.
BUILT := setup.py tb_memory_plugin/readers/_entries.c tb_memory_plugin/readers/_xlines.c
# Python compiles what tests import as they import it, which is the least of what is installed.
PIP := -m pip --disable-pip-version-check install --quiet --no-compile

.DEFAULT_GOAL := help
.PHONY: help demo demo-runs environments frameworks test test-oldest test-newest test-page lint bench frontend browser clean

help: ## List what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: demo-runs ## Train twice on the CPU, with a leak and without, and show both in TensorBoard
	$(NEW)/python scripts/serve.py demo/runs --port $(PORT)

demo-runs: .venv/ready frontend
	$(NEW)/python demo/train.py --logdir demo/runs

test: environments frontend test-page test-oldest test-newest ## Run all tests, in the oldest and the newest environment

environments: # Waits for downloads side by side
	@$(MAKE) --no-print-directory --jobs 4 .venv/ready .venv-oldest/ready browser frameworks

test-page: .venv/ready
	$(NEW)/python scripts/page.py test

test-oldest: .venv-oldest/ready
	TB_MEMORY_PURE_PYTHON=1 $(OLD)/python $(PYTEST) -m "not (browser or frameworks or once or network)" --hypothesis-profile=fewer

test-newest: .venv/ready
	$(NEW)/python $(PYTEST)

lint: .venv/ready ## Check style and types, for every Python from 3.10 to 3.14
	$(NEW)/ruff check .
	$(NEW)/ruff format --check .
	printf '%s\n' 3.10 3.11 3.12 3.13 3.14 | xargs -P 2 -I {} $(NEW)/mypy --python-version {}
	$(NEW)/python scripts/page.py lint

bench: .venv/ready ## Measure against the alternatives and write docs/performance.md
	$(NEW)/python -m benchmarks

frontend: .venv/ready ## Build the page into the package
	$(NEW)/python scripts/page.py build

browser:
	$(PYTHON) scripts/browser.py

frameworks: .venv-frameworks/packages # TensorFlow and JAX, which tests profile

clean: ## Remove everything that make made
	rm -rf .venv .venv-oldest .venv-frameworks build dist *.egg-info frontend/node_modules tb_memory_plugin/static demo/runs
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/browser/screenshots
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/packages: tests/requirements-newest.txt
	$(PYTHON) -m venv .venv
	$(NEW)/python $(PIP) -r tests/requirements-newest.txt
	$(NEW)/python $(PIP) -c tests/requirements-newest.txt "$(TORCH_SPEC)"
	touch $@

.venv-oldest/packages: tests/requirements-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	$(OLD)/python $(PIP) -r tests/requirements-oldest.txt
	$(OLD)/python $(PIP) -c tests/requirements-oldest.txt "$(TORCH_SPEC)"
	touch $@

.venv-frameworks/packages: tests/requirements-frameworks.txt
	$(PYTHON) -m venv .venv-frameworks
	.venv-frameworks/bin/python $(PIP) -r tests/requirements-frameworks.txt
	touch $@

.venv/ready: .venv/packages pyproject.toml $(BUILT)
	$(NEW)/python $(PIP) --no-deps --editable .
	$(NEW)/python -m pip check
	touch $@

# One after the other: both build the page and what is compiled beside the sources.
.venv-oldest/ready: .venv-oldest/packages pyproject.toml $(BUILT) | .venv/ready
	$(OLD)/python $(PIP) --no-deps --editable .
	$(OLD)/python -m pip check
	touch $@
