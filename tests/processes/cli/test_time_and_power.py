"""What `auditor check` and `auditor plan` say of the time of an audit, and of what it then shows."""

import re
from typing import Any

import pytest

from auditor.cli import main


def test_plan_and_check_join_time_and_power(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.py").write_text(
        "import time\n\ndef slow(bit, rng):\n    time.sleep(0.02)\n    return bit + rng.laplace()\n\n"
        "def fast(bit, size, rng):\n    return bit + rng.laplace(size=size)\n"
    )
    for name in ("slow", "fast"):
        (tmp_path / f"{name}.yaml").write_text(
            f"version: 1\nsamples: 4_000\naudits:\n- {{name: it, mechanism: m.py:{name}, claim: {{epsilon: 1}},\n"
            "   neighbours: {pairs: [{left: 0, right: 1}]}}\n"
        )
    assert main(["check", str(tmp_path / "slow.yaml")]) == 0
    shown = re.search(
        r"In 5 minutes it has `samples: ([\d_]+)`, which show noise ([\d.]+) times too small, or what only one",
        capsys.readouterr().out,
    )
    assert shown is not None and 2_000 < int(shown[1]) < 40_000 and 1.05 < float(shown[2]) < 2
    assert main(["check", str(tmp_path / "fast.yaml")]) == 0
    assert "minutes" not in capsys.readouterr().out
    assert main(["plan", str(tmp_path / "slow.yaml"), "--pace", "0.02"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "of one side only" in told and "1 of 63" in told and "it: at 0.02 s an output, the audit takes about " in told
    )
    assert re.search(r"5 minutes are enough for `samples: [\d_]+`", told)
    assert main(["plan", str(tmp_path / "slow.yaml")]) == 0
    assert "minutes" not in capsys.readouterr().out
    for pace in ("0", "-1", "nan", "inf", "soon"):
        with pytest.raises(SystemExit):
            main(["plan", str(tmp_path / "slow.yaml"), f"--pace={pace}"])
        assert "it must be a number of seconds above 0" in capsys.readouterr().err
