"""Adapters on small objects with the attributes of a library's objects, for environments without the library."""

import subprocess
import sys


def test_each_adapter_can_be_imported_without_its_library() -> None:
    script = (
        "import sys\nfrom auditor.libraries.adapting import ADAPTERS, load_adapter\n"
        "for name in ADAPTERS.values(): load_adapter(name)\n"
        "print([library for library in ADAPTERS if library in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
