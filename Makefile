# Everything a newcomer needs: `make demo`, `make test`. Each target does its own set-up in .venv.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-embedded test-long test-all trees robots example-embedded example-biped check format bench bench-batch bench-rollouts bench-plain bench-bridges bench-forms fuzz attack clean

demo: .venv/run
	$(BIN)/rbdgen robots/arm7.urdf -o build/demo
	$(BIN)/python examples/demo.py build/demo

test: .venv/develop
	$(BIN)/pytest -n 2 --dist worksteal

# Cortex-M and RISC-V boards under qemu, a part of `make test` too; skipped with a word where tools are missing.
test-embedded: .venv/develop
	$(BIN)/pytest -n 2 -m 'embedded and not campaign' -rs tests/embedded

# Campaigns, under an hour on two cores: the whole tables of which `make test` tries some rows (every form on every robot, every
# function in C by every compiler and on every board, against MISRA C, with every parameter, the counts of all robots); of the
# functions on all pairs of joint types a sample in which each pair occurs, and 320 larger random trees against Pinocchio, others
# every day or with another SEED; chains of 100 joints and trees of 200 bodies; then random robots with many more examples.
SEED ?= $(shell date +%Y%m%d)
test-long: .venv/develop
	$(BIN)/pytest -n 2 --dist worksteal -m campaign --sample $(SEED)
	RBDGEN_EXAMPLES=many $(BIN)/pytest -n 2 --dist worksteal -m 'hypothesis and not campaign'

# The same with every row of the tables that are sampled there.
test-all: .venv/develop
	$(BIN)/pytest -n 2 --dist worksteal -m campaign

# Random trees of joints of all types against Pinocchio, 10 000 of them from seed 0 on: TREES="--from 10000 --count 500".
trees: .venv/develop
	PYTHONPATH=tests $(BIN)/python -m trees $(TREES)

# Real robots against Pinocchio and MuJoCo, into docs/robots.md. Of dm_control and gymnasium only the models are used.
robots: .venv/develop
	rm -rf build/models
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps -d build/models dm_control gymnasium
	PYTHONPATH=tests $(BIN)/python -m agreement build/models/*.whl

# Campaigns of hostile cases, tests/attack/README.md says which: ATTACK="--only robots --seed 7 --size 500".
attack: .venv/develop
	PYTHONPATH=tests $(BIN)/python -m attack $(ATTACK)

# A 1 kHz controller on an emulated Cortex-M7, its log plotted in build/embedded.
example-embedded: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[plot]'
	$(MAKE) -C examples/embedded OUT=$(CURDIR)/build/embedded RBDGEN=$(CURDIR)/$(BIN)/rbdgen PYTHON=$(CURDIR)/$(BIN)/python

# A biped that squats on two feet, with and without inverse dynamics in contacts; plots in build/biped.
example-biped: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[plot]'
	$(BIN)/python examples/biped/squat.py build/biped

check: .venv/develop
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/develop
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Generated code beside Pinocchio's C++ and CasADi's C, on a quiet machine. Needs g++ or clang and libeigen3-dev; compiles
# Pinocchio's headers for some minutes the first time. More with BENCH="--slow", fewer robots with BENCH="arm7",
# frames, momentum and what else is not among the six functions with BENCH="--more", contacts with BENCH="--contacts".
bench: .venv/bench
	$(BIN)/python -m benchmarks.bench $(BENCH)

# Single calls, batches and threads beside Pinocchio's C++ in a loop; BENCH="--more", "--contacts" as above.
bench-batch: .venv/bench
	$(BIN)/python -m benchmarks.batch $(BENCH)

# Many rollouts beside calls of aba and MuJoCo's threaded rollout.
bench-rollouts: .venv/bench
	$(BIN)/python -m benchmarks.rollouts $(BENCH)

# Plain calls beside calls with out=.
bench-plain: .venv/bench
	$(BIN)/python -m benchmarks.plain_calls $(BENCH)

# Straight lines beside forms with lanes: the gain that the choice counts with, and the gain measured.
bench-forms: .venv/bench
	$(BIN)/python -m benchmarks.forms $(BENCH)

# Generated code inside CasADi beside what it does by itself; BENCH="casadi --repetitions 30".
bench-bridges: .venv/bench
	$(BIN)/python -m benchmarks.bridges $(BENCH)

# Damaged URDFs, coverage-guided, until one is neither read nor refused in one line. FUZZ="--seconds 3600 --seed 2 --go-on".
fuzz: .venv/fuzz
	PYTHONPATH=tests $(BIN)/python -m fuzz.description $(FUZZ)

clean:
	rm -rf build .venv

.venv/run: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/develop: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,lint]'
	touch $@

.venv/bench: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

.venv/fuzz: .venv/develop
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	touch $@
