# Two commands: `make audit` and `make test`. Both set up .venv first, from requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: audit test slow check bench lock clean

audit: $(READY)
	$(BIN)/python -m auditor run configs/*.yaml
	$(BIN)/python -m auditor list --reports reports

test: $(READY)
	$(BIN)/python -m pytest -q -m "not slow"

slow: $(READY)
	$(BIN)/python -m pytest -q

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m "not slow" -x

bench: $(READY)
	$(BIN)/python -m benchmarks

# Debian ships Python without the part of venv that installs pip; as root it is added, else the error says how.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "auditor needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get install -y python3-venv; } || \
	  { echo "this Python has no venv. On Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $(READY)

# Only when dependencies change: needs `pip install uv`.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-header -o requirements.lock

clean:
	rm -rf $(VENV)
