# Begin with `make demo` and `make test`. Each target sets up .venv itself.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-embedded test-long test-all trees robots example-embedded example-biped example-derivatives check format prove bench bench-batch bench-rollouts bench-impacts bench-plain bench-bridges bench-forms bench-own bench-web fuzz attack docs screenshots vendor clean

demo: .venv/run
	$(BIN)/rbdgen robots/arm7.urdf -o build/demo
	$(BIN)/python examples/demo.py build/demo

# To save time, it compiles large sources without optimisation; test-long compiles them as users do.
test: .venv/develop
	$(BIN)/pytest -n 2 --dist worksteal

# Tests on emulated Cortex-M and RISC-V boards, which `make test` runs too; tests are skipped if tools are missing.
test-embedded: .venv/develop
	$(BIN)/pytest -n 2 -m 'embedded and not campaign' -rs tests/embedded

# Campaigns, which take less than an hour on two cores. They run the whole tables of which `make test` runs some rows: every form on
# every robot, every function in C with every compiler and on every board, MISRA C, every parameter, the counts of all robots, the
# elementary functions of all floats. They also run the functions on a sample of the pairs of joint types, 320 larger random trees
# against Pinocchio, chains of 100 joints and trees of 200 bodies, and then random robots with many more examples. SEED determines the
# samples; by default it is the date.
SEED ?= $(shell date +%Y%m%d)
test-long: .venv/develop
	$(BIN)/pytest -n 2 --dist worksteal -m campaign --sample $(SEED)
	RBDGEN_EXAMPLES=many $(BIN)/pytest -n 2 --dist worksteal -m 'hypothesis and not campaign'

# Takes the pictures of `rbdgen show` in docs/pictures; needs Chromium, clang and wasm-ld.
screenshots: .venv/develop
	$(BIN)/python -m website.screenshots

# Bundles three.js and uPlot for the pages of `rbdgen show`; needs npm. The bundles are checked in.
vendor:
	templates/show/vendor/bundle

# As test-long, with every row of the tables that it samples.
test-all: .venv/develop
	$(BIN)/pytest -n 2 --dist worksteal -m campaign

# Compares 10 000 random trees with joints of all types with Pinocchio. For other seeds: TREES="--from 10000 --count 500".
trees: .venv/develop
	PYTHONPATH=tests $(BIN)/python -m trees $(TREES)

# Compares real robots with Pinocchio and MuJoCo, and writes docs/robots.md. Only the models of dm_control and gymnasium are used.
robots: .venv/develop
	rm -rf build/models
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps -d build/models dm_control gymnasium
	PYTHONPATH=tests $(BIN)/python -m agreement build/models/*.whl

# Proves by Frama-C/Eva that every function of the bundled robots in portable C has no undefined behaviour, which takes hours; it
# needs Debian's frama-c-base. Proofs of C that has not changed are kept, so that a run can be interrupted. PROVE="arm7" selects a robot.
prove: .venv/develop
	PYTHONPATH=tests $(BIN)/python -m benchmarks.proofs $(PROVE)

# Campaigns of difficult inputs, see campaigns/README.md: ATTACK="--only robots --seed 7 --size 500".
attack: .venv/develop
	PYTHONPATH=tests $(BIN)/python -m campaigns $(ATTACK)

# Runs a 1 kHz controller on an emulated Cortex-M7, and plots its log in build/embedded.
example-embedded: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[plot]'
	$(MAKE) -C examples/embedded OUT=$(CURDIR)/build/embedded RBDGEN=$(CURDIR)/$(BIN)/rbdgen PYTHON=$(CURDIR)/$(BIN)/python

# Simulates a biped that squats on two feet, with and without inverse dynamics for contacts; plots are in build/biped.
example-biped: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[plot]'
	$(BIN)/python examples/biped/squat.py build/biped

# Repeats published experiments with derivatives of dynamics, and writes examples/derivatives/results.md with its figures; use a quiet
# machine. It needs what `make bench` needs. DERIVATIVES="--draw" only draws the figures again.
example-derivatives: .venv/bench
	$(BIN)/python -m examples.derivatives $(DERIVATIVES)

check: .venv/develop
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/develop
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Compares the speed of generated code with Pinocchio's C++ and CasADi's C; use a quiet machine. It needs g++ or clang and
# libeigen3-dev, and compiles Pinocchio's headers for some minutes the first time. BENCH="--slow" adds slow competitors, BENCH="arm7"
# selects robots, BENCH="--more" runs functions other than the default six, BENCH="--contacts" those of contacts, and
# BENCH="--distances" distances of capsules, against Pinocchio with coal.
# BENCH="--before COMMIT" only compares this tree with another commit, also for bench-batch and bench-rollouts.
bench: .venv/bench
	PYTHONPATH=tests $(BIN)/python -m benchmarks.bench $(BENCH)

# Compares single calls, batches and threads with Pinocchio's C++ in a loop; BENCH="--more" and "--contacts" as above.
bench-batch: .venv/bench
	$(BIN)/python -m benchmarks.batch $(BENCH)

# Compares many rollouts with calls of aba and MuJoCo's threaded rollout; robots with feet also stand on them, beside MuJoCo and, where
# mujoco-mjx is installed, MJX.
bench-rollouts: .venv/bench
	$(BIN)/python -m benchmarks.rollouts $(BENCH)

# Writes how often contact_step finds impulses in motions and in random impacts, which docs/friction.md tells; nothing is timed.
bench-impacts: .venv/bench
	PYTHONPATH=tests $(BIN)/python -m benchmarks.impacts

# Compares plain calls with calls with out=.
bench-plain: .venv/bench
	$(BIN)/python -m benchmarks.plain_calls $(BENCH)

# Compares straight lines with forms with SIMD lanes: the gain that selection predicts, and the measured gain.
bench-forms: .venv/bench
	$(BIN)/python -m benchmarks.forms $(BENCH)

# Compares functions of a user's own with CasADi's C of the same expressions; BENCH="reach --repetitions 30".
bench-own: .venv/bench
	PYTHONPATH=tests $(BIN)/python -m benchmarks.own $(BENCH)

# Compares WebAssembly and JavaScript, run by node, with the same C; it needs clang, lld and nodejs.
bench-web: .venv/bench
	$(BIN)/python -m benchmarks.web $(BENCH)

# Compares generated code inside CasADi, JAX and PyTorch with their own code; BENCH="casadi --repetitions 30".
bench-bridges: .venv/bench
	$(BIN)/python -m benchmarks.bridges $(BENCH)

# Coverage-guided fuzzing with damaged URDFs, until one is neither read nor refused in one line. FUZZ="--seconds 3600 --seed 2 --go-on".
fuzz: .venv/fuzz
	PYTHONPATH=tests $(BIN)/python -m fuzz.description $(FUZZ)

# Builds the documentation site in site/, which can be read without a network: open site/index.html. DOCS="--builder material" builds
# it with Material for MkDocs.
docs: .venv/docs
	$(BIN)/python -m website.build $(DOCS)

clean:
	rm -rf build site .venv

.venv/run: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/develop: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,lint]'
	touch $@

.venv/docs: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

.venv/bench: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

.venv/fuzz: .venv/develop
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	touch $@
