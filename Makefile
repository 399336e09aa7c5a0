# Two commands: `make audit` and `make test`. Both set up .venv first: `make audit` with what audits need, `make test` with all.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AUDITS := $(VENV)/.audits
READY := $(VENV)/.ready
# By what a test does: see tests/README.md. Doctests stand in the packages.
TESTS := tests/unit tests/audits tests/processes tests/helpers auditor mechanisms
PROVER := tests/prover dp_prover --ignore tests/prover/long
PYTEST := $(BIN)/python -m pytest -q -n auto --dist worksteal
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
PINS := configs/libraries/environments
LIBRARIES := $(patsubst $(PINS)/%.txt,.libraries/%/.ready,$(wildcard $(PINS)/*.txt))
STATED := configs/accountants/environments
ACCOUNTANTS := $(patsubst $(STATED)/%.txt,.libraries/%/.ready,$(wildcard $(STATED)/*.txt)) \
  $(foreach shared,dp-accounting opendp diffprivlib pipeline-dp-sessions smartnoise-sql tmlt-core,.libraries/$(shared)/.ready)
TRAINED := configs/training/environments
TRAINING := $(patsubst $(TRAINED)/%.txt,.libraries/training/%/.ready,$(wildcard $(TRAINED)/*.txt))
FIELD := configs/field
OLD_PINS := benchmarks/corpus/environments
OLD_LIBRARIES := $(patsubst $(OLD_PINS)/%.txt,.libraries/%/.ready,$(wildcard $(OLD_PINS)/*.txt))

# A module is compiled once, and not by each of the processes that audits and tests start, where the environment asks for that.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: audit classics libraries training accountants sweeps corpus field test test-prover slow check bench studies docs lock clean

audit: $(AUDITS)
	$(BIN)/python -m auditor run configs/quickstart.yaml configs/0*.yaml
	$(BIN)/python -m mechanisms

# Mechanisms of papers with published bounds, and DP-SGD: minutes.
classics: $(AUDITS)
	$(BIN)/python -m auditor run configs/classics.yaml configs/curves.yaml configs/dp-sgd.yaml
	$(BIN)/python -m mechanisms

# Libraries of others as they are installed, each in an environment of its own; then, whether the claims are their own.
libraries: $(READY) $(LIBRARIES)
	$(BIN)/python -m auditor run configs/libraries/*.yaml --out reports/libraries
	$(BIN)/python -m pytest -q tests/processes/test_libraries.py tests/*/libraries

# Frameworks of private training and federated learning, each with packages of its own before the auditor's on the path: an hour.
# After a colon stands the list that an old release shares. On Linux, pip must know where torch's wheels for the processor alone lie.
FRAMEWORKS := opacus opacus-1.5.2:opacus opacus-1.5.4:opacus flwr nvflare nvflare-2.7.2:nvflare pfl jax-privacy
training: $(READY) $(TRAINING)
	failed=0; for each in $(FRAMEWORKS); do \
	  path=$$(for part in $$(echo $$each | tr : ' '); do \
	    ls -d $(CURDIR)/.libraries/training/$$part/lib/python3*/site-packages; done | paste -s -d : -); \
	  PYTHONPATH=$$path $(BIN)/python -W ignore -m auditor run configs/training/$${each%%:*}.yaml --out build/training \
	    || failed=1; \
	done; exit $$failed
	for each in opacus flwr nvflare pfl jax_privacy; do \
	  $(BIN)/python -m pytest -q tests/processes/libraries/test_$$each.py || exit 1; done

# What accountants and calibrations of packages state, beside exact numbers: a minute for each package. The table has the seconds of each.
accountants: $(READY) $(ACCOUNTANTS)
	mkdir -p build
	$(BIN)/python -m auditor run configs/accountants/*.yaml --out reports/accountants --junit build/accountants.xml
	$(BIN)/python configs/accountants/table.py reports/accountants build/accountants.xml
	$(BIN)/python -m pytest -q tests/processes/test_accountants_of_packages.py

# All that the constructors of these libraries make, each named by its environment and its module: half an hour.
SWEPT := opendp:opendp diffprivlib:diffprivlib pure-ldp:pure_ldp python-dp:pydp smartnoise-sql:snsql
sweeps: $(READY) $(LIBRARIES)
	for each in $(SWEPT); do \
	  PYTHONPATH=$$(echo .libraries/$${each%:*}/lib/python3*/site-packages) \
	    $(BIN)/python -W ignore -m auditor.libraries $${each#*:} --out build/sweeps --quiet; \
	  test $$? -ne 2 || exit 1; \
	  to=reports/libraries/$${each#*:}-sweep; mkdir -p $$to; \
	  (cd build/sweeps/$${each#*:}-sweep && cp sweep.md sweep.json objects.py *.yaml ../../../$$to); done

# Published bugs, in a release that has them and in one that has not: benchmarks/corpus/RESULTS.md
corpus: $(READY) $(OLD_LIBRARIES) .libraries/opendp-0.14.1/.ready
	$(BIN)/python -m benchmarks.corpus

# What some sixty packages do, each as it is installed: reports/field/TABLE.md. An evening; what is there already is not made again,
# unless it is named: make field PACKAGE=dwork
field: $(READY)
	$(BIN)/python -m benchmarks.field $(PACKAGE)

test: $(READY)
	$(PYTEST) $(TESTS)

test-prover: $(READY)
	$(PYTEST) $(PROVER)

# All tests, and what takes hours: many seeds, every fault, every attempt at a proof.
slow: $(READY)
	$(BIN)/python -m pytest -q

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin
	$(BIN)/lint-imports --no-cache
	$(BIN)/lint-imports --no-cache --config dp_prover/contracts.toml
	$(PYTEST) -x $(TESTS)
	$(PYTEST) -x $(PROVER)

bench: $(READY)
	$(BIN)/python -m benchmarks

studies: $(READY)
	$(BIN)/python -m studies

# A site in build/site, with a page of each report; it opens from the disk; to search in it, serve it: python -m http.server -d build/site
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Debian ships Python without the part of venv that installs pip; as root it is added, else the error says how.
$(AUDITS): requirements-audit.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "auditor needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get install -y python3-venv; } || \
	  { echo "this Python has no venv. On Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --no-compile --require-hashes -r requirements-audit.lock
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

$(READY): requirements.lock pyproject.toml $(AUDITS)
	$(PIP) install --no-compile --require-hashes -r requirements.lock
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

# Wheels, but for packages that have none; these are Python, or Java that is compiled.
WHEELS := --only-binary :all: --no-binary antlr4-python3-runtime,pyspark
.libraries/%/.ready: $(PINS)/%.txt | $(READY)
	$(PYTHON) -m venv --clear .libraries/$*
	.libraries/$*/bin/python -m pip install --quiet --disable-pip-version-check $(WHEELS) --require-hashes -r $<
	touch $@

# Four have no wheel, and are Python. The lists hold all that the accountants load: PyTorch and TensorFlow are no part of it.
.libraries/%/.ready: $(STATED)/%.txt | $(READY)
	$(PYTHON) -m venv --clear .libraries/$*
	.libraries/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  --only-binary :all: --no-binary autodp,dpcrpy,opacus-dpcr,riskcal -r $<
	touch $@

# nvflare needs a package of Python that has no wheel.
.libraries/training/%/.ready: $(TRAINED)/%.txt | $(READY)
	$(PYTHON) -m venv --clear .libraries/training/$*
	.libraries/training/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	touch $@

# Some old releases have no wheel. The list has all that is needed for what is tested, so nothing else is installed.
.libraries/%/.ready: $(OLD_PINS)/%.txt | $(READY)
	$(PYTHON) -m venv --clear .libraries/$*
	.libraries/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	touch $@

# An install may fail, as those of some packages do by now. A list that says so holds what a few modules of the package load.
.libraries/field/%/.ready: $(FIELD)/%/requirements.txt | $(READY)
	$(PYTHON) -m venv --clear .libraries/field/$*
	.libraries/field/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r $<
	touch $@

# Only when dependencies change: needs `pip install uv`. The lists of these old releases hold all that is tested, and are locked as they are.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header
# Their accountants need little of what the packages do, and their lists name it.
BARE := correlated-noise-mechanism flwr inf-tda opacus opacus-dpcr ornl-presto pfl privjail tensorflow-privacy
WHOLE := datasynthesizer-% diffprivlib-% smartnoise-synth-%
lock:
	$(LOCK) pyproject.toml --extra dev --extra docs -o requirements.lock
	$(LOCK) pyproject.toml --extra install --extra plots --extra intervals --constraint requirements.lock -o requirements-audit.lock
	for library in $(PINS)/*.in; do $(LOCK) $$library -o $${library%.in}.txt || exit 1; done
	$(foreach pins,$(wildcard $(TRAINED)/*.in),$(LOCK) $(if $(findstring opacus,$(pins))$(findstring -2,$(pins)),--no-deps) $(pins) -o $(pins:.in=.txt) &&) true
	$(foreach pins,$(wildcard $(STATED)/*.in),$(LOCK) $(if $(filter $(BARE),$(basename $(notdir $(pins)))),--no-deps) $(pins) -o $(pins:.in=.txt) &&) true
	$(foreach pins,$(wildcard $(OLD_PINS)/*.in),$(LOCK) $(if $(filter $(WHOLE),$(notdir $(pins))),--no-deps) $(pins) -o $(pins:.in=.txt) &&) true
	for list in $(FIELD)/*/requirements.in; do \
	  $(LOCK) $$(grep -q '^# alone' $$list && echo --no-deps) $$list -o $${list%.in}.txt || exit 1; done

clean:
	rm -rf $(VENV) .libraries
