# Everything a clone needs: `make demo` shows the product, `make test` proves it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt

.PHONY: demo test lint types borders check install bench clean

# A stamp for each kind of installation, renewed when what it depends on changes.
$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) hatchling editables
	$(PIP) torch
	$(PIP) --no-build-isolation -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) --no-build-isolation -e '.[test]'
	touch $@

install: $(VENV)/installed

demo: $(VENV)/installed
	$(BIN)/chebnet2d train digits --seed 0 --save demo/model
	$(BIN)/chebnet2d plot demo/model --out demo/filters.png

test: $(VENV)/installed-test lint types borders
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n auto --dist loadfile

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

borders: $(VENV)/installed-test
	$(BIN)/lint-imports

bench: $(VENV)/installed-test
	$(BIN)/python benchmarks/conv.py
	$(BIN)/python benchmarks/kernels.py

clean:
	rm -rf $(VENV) demo
