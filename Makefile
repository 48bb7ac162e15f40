# Everything a clone needs: `make demo` shows the product, `make test` proves it.
PYTHON ?= python3
VENV   := .venv
RAY    := .venv-cluster
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt

.PHONY: help demo test test-slow attacks test-cluster test-wheel test-oldest coverage lint types borders fuzz crash-points site figures review \
	install install-dev bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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

$(VENV)/installed-docs: $(VENV)/installed
	$(PIP) --group docs
	touch $@

install: $(VENV)/installed ## what the commands need, in .venv

install-dev: $(VENV)/installed-test ## and what tests and commits need
	$(PIP) --group dev

demo: $(VENV)/installed ## train on 1797 real images, save the model, draw its filters, write its report
	$(BIN)/chebnet2d train digits --seed 0 --save demo/model
	$(BIN)/chebnet2d plot demo/model --graph digits --out demo/filters.png
	$(BIN)/chebnet2d report demo/model digits --out demo/report.html

test: $(VENV)/installed-test lint types borders ## lint, types, import borders and the tests
	$(BIN)/pytest -q -n auto --dist loadfile $(PYTEST)

site: $(VENV)/installed-docs ## pages, tutorials that run and the reference, into site/; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -q -j auto -b html -c docs -d site/.doctrees . site

figures: $(VENV)/installed ## the pictures on pages, anew from models, claims and result files
	$(BIN)/python docs/figures.py

review: install-dev ## what sp-repo-review says of the repository
	$(BIN)/repo-review .

test-wheel: $(VENV)/installed ## the wheel, built and installed into an empty environment, runs
	$(BIN)/python tests/packaging/run_wheel.py

test-oldest: $(VENV)/installed-test ## the oldest versions of dependencies that pyproject.toml allows
	$(BIN)/python tests/packaging/run_oldest.py

test-slow: $(VENV)/installed-test ## the tests that take minutes
	$(BIN)/pytest -q -n auto -m slow $(PYTEST)

attacks: $(VENV)/installed-test ## kills, damaged files and limits of memory: minutes
	$(BIN)/pytest -q -n auto --dist loadfile -m "attack and not slow" $(PYTEST)

# Ray alone is installed here; the package, torch and the tests' tools are those of .venv, whose folder is added to the path.
$(RAY)/installed: $(VENV)/installed-test
	test -x $(RAY)/bin/python || $(BIN)/python -m venv $(RAY)
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(' + repr(sysconfig.get_path('purelib')) + ')')" \
		> $$($(RAY)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/tools-of-venv.pth
	$(RAY)/bin/python -m pip install --disable-pip-version-check -q -c constraints.txt ray
	touch $@

test-cluster: $(RAY)/installed ## studies, searches and bases on Ray, and ranks of torchrun that stop
	$(RAY)/bin/python -m pytest -q tests/cluster
	$(RAY)/bin/python -m pytest -q -m cluster tests/training tests/cluster

coverage: ## the same, with the share of lines and branches that tests run
	$(MAKE) test PYTEST="--cov --cov-report=term:skip-covered"

lint: $(VENV)/installed-test ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test ## strict mypy
	$(BIN)/mypy

borders: $(VENV)/installed-test ## imports only go down
	$(BIN)/lint-imports

INPUTS ?= 5000
fuzz: $(VENV)/installed-test ## damaged files of every format: INPUTS=5000 of each
	$(BIN)/python tests/fuzzing/run.py --inputs $(INPUTS)

crash-points: $(VENV)/installed-test ## kill everything that writes before each of its changes of the disk
	$(BIN)/python tests/crash_points/run.py

bench: $(VENV)/installed-test ## the layer and the kernels against what others do
	$(BIN)/python benchmarks/conv.py
	$(BIN)/python benchmarks/kernels.py

clean: ## remove what make made
	rm -rf $(VENV) $(RAY) demo site
