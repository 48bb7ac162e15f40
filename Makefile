# Everything a clone needs: `make demo` shows the product, `make test` proves it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt

.PHONY: help demo test coverage lint types borders install install-dev bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A stamp for each kind of installation, renewed when what it depends on changes.
$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) hatchling editables
	$(PIP) torch
	$(PIP) --no-build-isolation -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) --group test
	touch $@

install: $(VENV)/installed ## what the commands need, in .venv

install-dev: $(VENV)/installed-test ## and what tests and commits need
	$(PIP) --group dev

demo: $(VENV)/installed ## train on 1797 real images, save the model, draw its filters
	$(BIN)/chebnet2d train digits --seed 0 --save demo/model
	$(BIN)/chebnet2d plot demo/model --out demo/filters.png

test: $(VENV)/installed-test lint types borders ## lint, types, import borders and all tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n auto --dist loadfile $(PYTEST)

coverage: ## the same, with the share of lines and branches that tests run
	$(MAKE) test PYTEST="--cov --cov-report=term:skip-covered"

lint: $(VENV)/installed-test ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test ## strict mypy
	$(BIN)/mypy

borders: $(VENV)/installed-test ## imports only go down
	$(BIN)/lint-imports

bench: $(VENV)/installed-test ## the layer and the kernels against what others do
	$(BIN)/python benchmarks/conv.py
	$(BIN)/python benchmarks/kernels.py

clean: ## remove what make made
	rm -rf $(VENV) demo
