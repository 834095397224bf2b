# Everything starts here: `make help` lists the targets.
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto -p no:schemathesis # its plugin takes a third of the start of each process

QUICK := tests/golden \
	$(addprefix tests/referee/test_,$(addsuffix .py,cards ruleset ruleset_refusals presets plays shuffle dealing deal_* \
	scoring scoring_extras session lobby table_* connection outbox replay)) \
	$(addprefix tests/arena/test_,$(addsuffix .py,advance matches pairing_* ratings standings seating metrics)) \
	-k "not random_field and not part_by_part"

COMPILED := tests/golden tests/wire tests/referee/local/test_pool.py \
	$(addprefix tests/referee/test_,$(addsuffix .py,plays presets deal_* position scoring scoring_extras session lobby \
	table_* outbox encode replay reference helpers sage server_matches))

unexport PYTHONDONTWRITEBYTECODE # without bytecode each process compiles everything anew

.DEFAULT_GOAL := help
.PHONY: help setup demo test compiled quick check types types-elsewhere borders format proto release-proto schema schemas golden pictures sweep bench clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 15

setup: .venv/installed ## make the virtual environment .venv from requirements.lock

.venv/installed: requirements.lock pyproject.toml referee/pyproject.toml .ci/setup
	@.ci/setup

demo: setup ## run an arena here: eight bots, three tournaments, standings, ratings, pages
	@$(BIN)/arena demo

test: check ## run all checks, all tests, and some of them with the compiled build
	@.ci/servers
	@$(PYTEST)
	@$(BIN)/python -m tests.compiled --numprocesses auto $(COMPILED)

compiled: setup ## build the compiled wheel and an environment with it in .cache/compiled, and print its Python
	@$(BIN)/python -m tests.compiled

quick: setup ## run the tests of rules, deals, matches, pairing and ratings, and one end to end (a minute)
	@$(PYTEST) $(QUICK)

check: setup ## format, lint, strict types, import arrows, protos, generated files
	@$(BIN)/ruff format --check --quiet . || { echo "run make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(MAKE) --no-print-directory --jobs types types-elsewhere borders # side by side: each uses one core

types:
	@$(BIN)/mypy

types-elsewhere: # bots run on other systems, too
	@for system in win32 darwin; do $(BIN)/mypy -p referee --platform $$system --no-warn-unreachable --no-error-summary --cache-dir .mypy_cache/$$system || exit 1; done

borders:
	@found=$$($(BIN)/lint-imports --no-cache) || { echo "$$found"; exit 1; }; echo "$$found" | tail -n 3
	@cd proto && ../$(BIN)/buf lint && ../$(BIN)/buf format --diff --exit-code && ../$(BIN)/buf breaking --against released/v1.binpb
	@.ci/check-generated

format: setup ## format the code and mend what the linter can
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .
	@cd proto && ../$(BIN)/buf format --write

proto: setup ## generate referee/v1 and referee/worker/v1alpha1 from proto/
	@.ci/proto

schema: setup ## write what the migrations make of a database, with which processes compare theirs
	@$(BIN)/python -W error -m arena.store.migrations > .cache/schema.txt && mv .cache/schema.txt arena/store/migrations/schema.txt

schemas: setup ## generate docs/schemas and the tables in docs from the fields and docstrings in the code
	@$(BIN)/python -m arena.schemas
	@$(BIN)/python -m tests.arena.reference

pictures: setup ## make the pictures of README and docs anew, from a demo
	@$(BIN)/python .ci/pictures

release-proto: setup ## from now on, make check holds the protos to what they are now
	@.ci/release-proto

golden: setup ## make the golden deals, the counts, the pages and the test vectors anew, and show what differs
	@$(BIN)/python -m tests.golden regenerate
	@$(BIN)/python -m tests.vectors regenerate

sweep: setup ## run all tests with either build and many examples, compare five-card sets with slow rules, plant faults, pair by the page, verify seasons (long)
	@$(PYTEST) --hypothesis-profile sweep
	@$(BIN)/python -m tests.compiled --numprocesses auto --hypothesis-profile sweep
	@$(BIN)/python -m tests.referee.sweep
	@$(BIN)/python -m tests.vectors check
	@$(BIN)/python -m tests.vectors.mutants
	@$(BIN)/python -m tests.faults
	@$(BIN)/python -m tests.arena.compared_pairings
	@$(BIN)/python -m tests.arena.honest

bench: setup ## measure the rules engine and the referee beside their peers (minutes)
	@$(BIN)/python -m benchmarks engine referee memory pairing

clean: ## remove the virtual environment and all caches of this checkout
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
