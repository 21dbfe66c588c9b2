# Every target makes its own virtual environment in .venv the first time; test-oldest makes .venv-oldest.
PYTHON ?= python3
OLDEST_PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
OLDEST := .venv-oldest
OLDEST_READY := $(OLDEST)/.ready

.PHONY: demo test test-slow test-oldest lint bench smoke papers docs format clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# Tests start many processes, each of which would otherwise compile the same modules once more.
unexport PYTHONDONTWRITEBYTECODE

# The tests run side by side, so each of them has one thread for its matrix products.
# Each starts with half of the files, so that models which tests of a file share are fitted once.
PYTEST := -m pytest -q -n auto --dist worksteal
test test-slow test-oldest: export OMP_NUM_THREADS = 1
test test-slow test-oldest: export OPENBLAS_NUM_THREADS = 1

test: $(READY)
	$(BIN)/python $(PYTEST) -m "not slow"

# Clusters, compilers, long examples, and scikit-learn's checks of further options.
test-slow: $(READY)
	$(BIN)/python $(PYTEST) -m slow

# The same with the oldest Python and the lower bounds of pyproject.toml for the dependencies.
test-oldest: $(OLDEST_READY)
	$(OLDEST)/bin/python $(PYTEST)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks page

# The wheel in an environment of its own, without a compiler, then with all extras.
smoke: $(READY)
	$(BIN)/python tools/smoke.py --fresh

papers: $(READY)
	$(BIN)/python -m papers run all --quick
	$(BIN)/python -m papers page

docs: $(DOCS_READY)
	rm -rf docs/generated
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(READY)

# Once installed, the site is built without a network.
$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $(DOCS_READY)

$(OLDEST_READY): pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(OLDEST)/constraints.txt --editable ".[dev]"
	touch $(OLDEST_READY)

clean:
	rm -rf $(VENV) $(OLDEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
