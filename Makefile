# The whole workflow. `make help` lists it; `make lab` and `make test` need only Python >= 3.10, make and git;
# the tests in a browser are skipped, and counted as skipped, where there is no Chromium, Chrome or Edge.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
PROGRAMS ?= 20000
FILES ?= 5000
LAB_ARGS ?=
BENCH_ARGS ?=
LITE_ARGS ?=
CAMPAIGNS ?=
CLIENTS ?=
# a folder of tests/, for `make test`: its tests, and the examples of the folder of vistorch/ with its name
ROOM ?=
# where pytest and vitest leave a report, if anywhere
REPORTS ?=
# imports cupy at once, and is itself imported only where a CUDA device is asked for
NOT_HERE := --ignore=vistorch/engine/kernels/cupy_.py

# IPython warns of another environment that is active, and a warning is an error here
unexport VIRTUAL_ENV
# hundreds of processes import vistorch, and would each compile it
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
BASE := $(VENV)/.made-base
TEST := $(VENV)/.made-test
LAB := $(VENV)/.made-lab
DOCS := $(VENV)/.made-docs
LITE := $(VENV)/.made-lite
# By a name of its own: a recipe that says MAKE is run by `make --dry-run` too.
THIS_MAKE := $(MAKE)

PLACES = $(or $(wildcard tests/$(ROOM) vistorch/$(ROOM)),$(error There is no tests/$(ROOM); there are $(notdir $(patsubst %/,%,$(wildcard tests/*/)))))
# nbval is for the notebooks alone; importing it takes more than a second.
PYTEST = $(BIN)/python -m pytest -p no:nbval
JUNIT = $(if $(REPORTS),--junitxml=$(REPORTS)/$@.xml)
VITEST = $(if $(REPORTS),--reporter=default --reporter=junit --outputFile.junit=$(REPORTS)/$@.xml)

# One thing at a time, also under -j: the environment is shared.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help lab test plan pytest kernels speed ui vitest bundles fmt lint type fuzz campaigns hostile clients bench js notebooks docs lite pictures generated clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

$(BASE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("vistorch needs Python 3.10 or newer" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(TEST): $(BASE)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

$(LAB): $(BASE)
	$(BIN)/python -m pip install --quiet --editable '.[lab]'
	@touch $@

$(DOCS): $(TEST)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(LITE): $(TEST)
	$(BIN)/python -m pip install --quiet --editable '.[lite]'
	@touch $@

# Takes a moment where nothing has changed; an install has built them already.
bundles: $(TEST)
	@$(BIN)/python js/front.py build

lab: $(LAB) ## open JupyterLab on your own copies of the tutorials, in vistorch-tutorials/
	$(BIN)/vistorch lab vistorch-tutorials $(LAB_ARGS)

# What parts that run side by side share is made first.
test: plan $(if $(ROOM),bundles,$(DOCS) bundles kernels) ## everything that must be green before a merge; ROOM=optim: one folder of tests
ifneq ($(ROOM),)
	OMP_NUM_THREADS=1 $(PYTEST) -n $(WORKERS) -m 'not ui' --doctest-modules $(NOT_HERE) $(PLACES)
else
	@$(BIN)/python -m tests.run_all $(THIS_MAKE)
endif

plan:
	@$(PYTHON) tests/run_all.py --plan $(VENV) $(ROOM)

pytest: bundles ## the tests and the examples in the docstrings of vistorch
	OMP_NUM_THREADS=1 $(PYTEST) -n $(WORKERS) -m 'not ui' --doctest-modules $(NOT_HERE) $(JUNIT) vistorch tests

kernels: $(TEST)
	@$(BIN)/python -m tests.ui.kernels

ui: bundles kernels ## what a person does, in a browser, in JupyterLab and in Notebook 7
	OMP_NUM_THREADS=1 $(PYTEST) -m ui $(JUNIT) tests/ui tests/widgets

vitest: $(TEST) ## the tests of the front end
	$(BIN)/python js/front.py test $(VITEST)

fmt: $(TEST) ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: $(TEST) ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(TEST) ## check types
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python js/front.py type

fuzz: $(TEST) ## random programs against torch; PROGRAMS=n sets how many
	$(BIN)/python -m tests.fuzz.run --programs $(PROGRAMS)

campaigns: bundles ## interrupts, kills, hostile names and messages, memory, bad arguments: a table of tries and failures
	$(BIN)/python -m tests.campaigns $(CAMPAIGNS)

hostile: bundles ## read hostile files of every kind; FILES=n sets how many
	$(BIN)/python -m tests.serialization.corpus --files $(FILES)

clients: $(TEST) ## libraries written for PyTorch at their main work, beside PyTorch; CLIENTS='einops timm' runs some
	$(BIN)/python -m tests.clients $(if $(CLIENTS),$(CLIENTS),--write)

speed: $(TEST) ## a few rows of the benchmarks, with each kind of kernels: fails where one became much slower beside torch
	$(BIN)/python -m benchmarks.gate
	VISTORCH_ONEDNN=off $(BIN)/python -m benchmarks.gate

bench: $(TEST) ## times against torch, side by side; BENCH_ARGS='--quick --family small'
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

js: $(TEST) ## build the front end, again at each change; with `ANYWIDGET_HMR=1 make lab` open pages follow
	$(BIN)/python js/front.py watch

notebooks: $(TEST) ## run every notebook and compare its outputs
	@if find notebooks -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*' | grep -q .; then \
		$(BIN)/python -m pytest --nbval --nbval-current-env --nbval-sanitize-with notebooks/sanitize.cfg $(JUNIT) notebooks; \
	else \
		echo "There are no notebooks yet: nothing to run."; \
	fi

docs: $(DOCS) ## build the site into build/docs/html; warnings are errors
	$(BIN)/python -m docs.making

lite: $(LITE) bundles ## build a JupyterLite with every tutorial into build/lite; LITE_ARGS='--wheels FOLDER'
	$(BIN)/python -m docs.making.lite $(LITE_ARGS)

pictures: bundles ## make the pictures of README.md anew, by the test that draws them
	OMP_NUM_THREADS=1 $(PYTEST) -q -m ui tests/ui/test_pictures.py
	cp tests/ui/artefacts/readme-stepper.png docs/pictures/stepper.png

generated: $(TEST) ## write what is made from other files: types of the pages, the stub of vistorch.vt, README's table
	$(BIN)/python -m docs.making.generated

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
	rm -rf node_modules js/node_modules vistorch/widgets/static/*.js tests/ui/artefacts
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
