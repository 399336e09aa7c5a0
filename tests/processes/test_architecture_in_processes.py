"""The house rules that a parser can check: contracts on imports, and what is done in one place only."""

import subprocess
import sys

import pytest

HELP = "from auditor.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
AUDIT = """
import auditor
def noisy(data, size, rng):
    return data + rng.laplace(size=size)
assert auditor.audit(noisy, auditor.PureDP(1.0), [(0, 1)], samples=1_000, workers=-1).bound
"""
SLOW = "scipy.optimize scipy.stats scipy.special statsmodels matplotlib pandas jinja2 rich"
# The command, and prefixes of modules that it does not load. Each worker imports the third.
LATER = {
    "import auditor": "auditor. numpy",
    HELP: f"{SLOW} numpy scipy joblib loky pydantic",
    "import auditor.auditing, auditor.blackbox.host": SLOW,
    AUDIT: "joblib asyncio matplotlib pandas statsmodels jinja2 rich",
    "import auditor\nauditor.audit_scores([1.0] * 9, [0.0] * 9, 'one-run')": "pandas pydantic matplotlib joblib",
}


@pytest.mark.parametrize("code", LATER, ids=["facade", "help", "audit", "carried out", "scores"])
def test_what_takes_long_is_loaded_when_it_is_needed(code: str) -> None:
    names = tuple(LATER[code].split())
    script = f"import sys\n{code}\nprint([name for name in sys.modules if name.startswith({names})], file=sys.stderr)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stderr.strip() == "[]"
