# `make demo` and `make test` set themselves up in .venv: Python 3.11 or newer, make and a compiler are all they need.
# The network is used by pip alone.

VENV  := .venv
BIN   := $(VENV)/bin
MADE  := $(VENV)/.made
READY := $(VENV)/.ready
SITE  := $(VENV)/.site-ready
EXTRA := $(VENV)/.extra-ready
JOBS  ?= 2

# XLA of JAX 0.11 and newer knows this option no more, and ends a program that names it.
NO_FUSION = $(shell $(BIN)/python -c "import jaxlib.version as v; v.__version_info__ < (0, 11) and print('--xla_cpu_use_fusion_emitters=false')")
# Two workers share two cores: one thread each, code compiled quickly rather than well, shared between them and kept for the next time.
TEST_ENV = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	XLA_FLAGS="--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0 $(NO_FUSION) $(XLA_FLAGS)" \
	LISSOM_CACHE="$(CURDIR)/.pytest_cache/jax" JAX_COMPILATION_CACHE_DIR="$(CURDIR)/.pytest_cache/jax" \
	JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0.2
PYTEST = $(TEST_ENV) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile -q --durations=15

# Twenty minutes by default; SEED=123 gives the same cases again, REPLAY=files:123 one of them, ONLY=files one kind.
MINUTES ?= 20
FUZZ = $(TEST_ENV) PYTHONPATH="$(CURDIR)/src:$(CURDIR)/tests" $(BIN)/python -m fuzz --jobs $(JOBS) --minutes $(MINUTES) \
	$(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY)) $(if $(ONLY),--only $(ONLY))

.PHONY: help demo docs test test-all test-jax lint format bench fuzz goldens counts docs-numbers clean distclean
.DEFAULT_GOAL := help

help:
	@echo "make demo       simulate a flexible robot; pictures and animation go to demo/"
	@echo "make docs       build the documentation in build/docs, for offline use; warnings and dead links are errors"
	@echo "make test       run ruff, pyright and all tests that are not slow"
	@echo "make test-all   run the slow tests too"
	@echo "make lint       run only ruff and pyright"
	@echo "make fuzz       test broken files, command lines, random robots and interrupted commands; MINUTES=20"
	@echo "make goldens    compare the output of every command in the pages with the stored one; RECORD=1 stores it, RTOL=1e-9 sets the tolerance"
	@echo "make docs-numbers  measure the numbers and figures of the pages again, and say which pages changed"
	@echo "make counts     count declarations and lines of code; RECORD=1 stores the counts"
	@echo "make format     format the code with ruff and apply its safe fixes"
	@echo "make bench      measure build, compile and run times of the library's robots"
	@echo "make clean      remove results and caches; make distclean removes .venv too"

PIP = $(BIN)/python -m pip install -qq --disable-pip-version-check --editable

# Once. Every Python found is asked for its version; pyenv's empty shims fail and are passed over.
$(MADE):
	@python=""; for p in $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3 python; do \
		if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python="$$p"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "lissom needs Python 3.11 or newer and found none; name one with: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then \
		echo "$$python has no venv module: install it (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$("$$python" --version); this takes a few minutes, once."; \
	"$$python" -m venv $(VENV)
	@touch $@

# Once, and again when pyproject.toml changes.
$(READY): pyproject.toml | $(MADE)
	@$(PIP) '.[dev]'
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then \
		$(PIP) '.[browser]' || echo "playwright could not be installed: the studio is not opened in Chromium" >&2; \
	fi
	@touch $@

# The site needs nothing of what tests need.
$(SITE): pyproject.toml | $(MADE)
	@$(PIP) '.[docs]'
	@touch $@

# What only the slow tests need.
$(EXTRA): $(READY) $(SITE)
	@$(PIP) '.[arms,cluster,browser]'
	@touch $@

# The compiler's own tests at both ends of the range of JAX, each in an environment of its own that stays for the next time.
TESTED_JAX ?= 0.6.0 0.12.0.1
test-jax:
	@for version in $(TESTED_JAX); do \
		folder=build/jax-$$version; python=""; \
		for p in $(PYTHON) python3.12 python3.13 python3; do \
			if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then python="$$p"; break; fi; \
		done; \
		if [ -z "$$python" ]; then echo "JAX 0.11 and newer need Python 3.12; name one with: make PYTHON=..." >&2; exit 1; fi; \
		if [ ! -e $$folder/.ready ]; then \
			"$$python" -m venv $$folder && \
			$$folder/bin/python -m pip install -qq --disable-pip-version-check \
				jax==$$version equinox jaxtyping llvmlite numpy pytest && \
			touch $$folder/.ready || exit 1; \
		fi; \
		echo "jaxnative with JAX $$version"; \
		PYTHONPATH="$(CURDIR)/src" OMP_NUM_THREADS=1 $$folder/bin/python -m pytest -q -c /dev/null --rootdir tests/compiler \
			--confcutdir tests/compiler -p no:cacheprovider -m "not slow" tests/compiler || exit 1; \
	done

docs: $(SITE)
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/docs
	$(BIN)/python docs/_site/dead_links.py build/docs
	@echo "open build/docs/index.html"

demo: $(READY)
	@mkdir -p demo
	$(BIN)/lissom simulate anthropomorphic -o demo/run.nc --plot demo/run.png --animate demo/robot.html
	$(BIN)/lissom show demo/run.nc -o demo/robot.png
	$(BIN)/lissom modes anthropomorphic --locked --count 3
	@echo "Open demo/robot.html (animation), demo/run.png (joints, torques, energies) and demo/robot.png (frames and nodes)."

test: lint
	$(PYTEST)

test-all: lint $(EXTRA)
	$(PYTEST) -m "slow or not slow"

lint: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m pyright

format: $(READY)
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

fuzz: $(READY)
	@$(FUZZ)

goldens: $(READY)
	$(BIN)/python scripts/goldens.py --jobs $(JOBS) $(if $(RECORD),--record) $(if $(RTOL),--rtol $(RTOL)) $(if $(ONLY),--only $(ONLY))

counts: $(READY)
	@$(BIN)/python scripts/counts.py $(if $(RECORD),--record)

# Some minutes. Figures beside Exudyn keep its curves where it is not installed (extra `peers`).
docs-numbers: $(READY)
	@$(BIN)/python -m benchmarks.docs_numbers

bench: $(READY)
	$(BIN)/lissom bench

clean:
	rm -rf demo build dist .pytest_cache .ruff_cache fuzz-failures
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
