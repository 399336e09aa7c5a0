"""Invalid processes, from Python, YAML and options: each error names the value, what is allowed, and what to do."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.exact import (
    Allocation,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    RandomizedResponse,
    Table,
    delta_interval,
    epsilon_interval,
    mu_interval,
    renyi_interval,
)
from auditor.exact.process_mapping import process_from_dict

REFUSED: list[tuple[Any, str]] = [
    (
        lambda: Gaussian(0.0),
        r"scale is 0\.0; it must be a finite number of at least 1e-50 and at most 1e\+50",
    ),
    (lambda: Laplace(math.nan), "scale is nan"),
    (lambda: DiscreteGaussian(-1.0), "scale is -1.0"),
    (lambda: RandomizedResponse(0.2, 4), "truth is 0.2; it must be a finite number of at least 0.25"),
    (lambda: RandomizedResponse(0.9, 1), "values is 1; it must be an integer from 2"),
    (lambda: ExponentialMechanism(math.inf), "weight is inf"),
    (lambda: ExponentialMechanism(1.0, 1), "monotone is 1; it must be true or false"),  # type: ignore[arg-type]
    (lambda: Table((0.5, 0.4), (0.5, 0.5)), "present sums to 0.9; it must sum to 1"),
    (lambda: Table((0.5, 0.5), (1.0,)), "present and absent have 2 and 1 probabilities"),
    (lambda: Table((), ()), "it must be a list of probabilities, at least one"),
    (lambda: Table((1.5, -0.5), (0.5, 0.5)), r"present\[0\] is 1.5"),
    (lambda: Poisson(0.0), "rate is 0.0"),
    (lambda: Poisson(1.1), "rate is 1.1"),
    (lambda: Allocation(0), "batches is 0"),
    (lambda: Allocation(4, 5), "times is 5; it must be an integer from 1 to 4"),
    (lambda: Process(Gaussian(1.0), steps=0), "steps is 0; it must be an integer from 1"),
    (lambda: Process(Gaussian(1.0), steps=True), "steps is True"),
    (lambda: Process(Gaussian(1.0), relation="replace"), "relation is"),  # type: ignore[arg-type]
    (lambda: Process(1.0), "noise is 1.0; it must be one of Gaussian, Laplace"),  # type: ignore[arg-type]
    (lambda: Process(Gaussian(1.0), sampling=0.1), "sampling is 0.1; it must be None or one of Poisson"),  # type: ignore[arg-type]
    (lambda: Process(DiscreteGaussian(1.0), 1.5), "sensitivity is 1.5; of DiscreteGaussian, it must be an integer"),
    (lambda: Process(RandomizedResponse(0.6)), 'it must be "substitute".* state a Table'),
    (lambda: Process(Table((1.0,), (1.0,)), 2.0), "sensitivity is 2.0; Table has none, so leave it out"),
    (lambda: Process(Gaussian(1.0), sampling=FixedSize(0.1)), 'of FixedSize, it must be "substitute"'),
    (lambda: Process(DiscreteLaplace(1.0), sampling=Allocation(3)), "noise must be Gaussian or Laplace"),
    (lambda: Process(ExponentialMechanism(1.0), 1.0, "substitute", Poisson(0.1)), "State a Table"),
    (lambda: Composition(()), "it must be a list of Process, at least one"),
    (
        lambda: Composition((Process(Gaussian(1.0)), Process(Gaussian(1.0), relation="substitute"))),
        "relations add_remove, substitute; state one for all",
    ),
    (lambda: epsilon_interval(Process(Gaussian(1.0)), 1.0), "delta is 1.0"),
    (lambda: epsilon_interval(Process(Gaussian(1.0)), 1e-5, precision=0.0), "precision is 0.0"),
    (lambda: epsilon_interval(1.0, 1e-5), "it must be a Process or a Composition"),  # type: ignore[arg-type]
    (lambda: delta_interval(Process(Gaussian(1.0)), -0.1), "epsilon is -0.1"),
    (lambda: renyi_interval(Process(Gaussian(1.0)), 1.0), "order is 1.0"),
    (lambda: process_from_dict({"noise": "gauss", "scale": 1}), "noise is 'gauss'; did you mean \"gaussian\""),
    (lambda: process_from_dict({"noise": "gaussian", "sigma": 1}), 'unknown key "sigma"'),
    (lambda: process_from_dict({"noise": "gaussian"}), "noise gaussian needs scale; add it"),
    (lambda: process_from_dict({"scale": 1}), "noise is None"),
    (
        lambda: process_from_dict({"noise": "laplace", "scale": 1, "rate": 0.1}),
        "rate is 0.1; laplace has no such number",
    ),
    (lambda: process_from_dict({"noise": ["laplace"], "scale": 1}), "noise is "),
]


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_what_has_no_meaning_is_refused(made: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        made()


def test_a_mapping_describes_what_python_does() -> None:
    described = {"noise": "gaussian", "scale": 2.0, "sampling": "poisson", "rate": 0.1, "steps": 3, "relation": "add"}
    assert process_from_dict(described) == Process(Gaussian(2.0), 1.0, "add", Poisson(0.1), 3)
    described = {"noise": "table", "present": [0.5, 0.5], "absent": [0.25, 0.75]}
    assert process_from_dict(described) == Process(Table((0.5, 0.5), (0.25, 0.75)))
    assert process_from_dict(
        {"noise": "laplace", "scale": 1.0, "sampling": "allocation", "batches": 4, "times": 2}
    ) == Process(Laplace(1.0), sampling=Allocation(4, 2))


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main(["exact", *options, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_the_command_prints_what_the_functions_return(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = Process(Laplace(2.0), 1.0, "remove", Poisson(0.5), 3)
    options = ["--noise", "laplace", "--scale", "2", "--relation", "remove", "--sampling", "poisson", "--rate", "0.5"]
    options += ["--steps", "3"]
    asked = [
        (["--delta", "1e-3"], "ε", epsilon_interval(process, 1e-3)),
        (["--epsilon", "0.3"], "δ", delta_interval(process, 0.3)),
        (["--order", "4"], "D", renyi_interval(process, 4.0)),
    ]
    for question, name, interval in asked:
        assert shown(capsys, *options, *question) == {"quantity": name, **interval.to_dict()}
    assert (
        shown(capsys, "--noise", "gaussian", "--scale", "2", "--mu")["low"] == mu_interval(Process(Gaussian(2.0))).low
    )
    file = tmp_path / "one.yaml"
    file.write_text(
        "noise: laplace\nscale: 2\nrelation: remove\nsampling: poisson\nrate: 0.5\nsteps: 3\n", encoding="utf-8"
    )
    assert shown(capsys, str(file), "--delta", "1e-3")["low"] == epsilon_interval(process, 1e-3).low


def test_what_is_printed_encloses_the_interval(capsys: pytest.CaptureFixture[str]) -> None:
    for options in (["--delta", "1e-5"], ["--epsilon", "1"], ["--delta", "0"], ["--order", "3"], ["--mu"]):
        for noise in ("gaussian", "laplace", "discrete-gaussian"):
            given = ["exact", "--noise", noise, "--scale", "1.7", *options]
            assert main(given) == 0
            line = capsys.readouterr().out.splitlines()[0].replace("∞", "inf")
            assert main([*given, "--json"]) == 0
            answer = json.loads(capsys.readouterr().out)
            low, high = (float(answer[end]) for end in ("low", "high"))
            if " is " in line:
                assert low == high == float(line.split()[-1])
            else:
                ends = [float(end) for end in line.partition("[")[2].rstrip("]").split(", ")]
                assert ends[0] <= low and high <= ends[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n", "is not a mapping"),
        ("processes: 3\n", "line 1: processes must be a list"),
        ("processes:\n  - {noise: gaussian, scale: 1}\n  - {noise: gaussian}\n", "line 3: noise gaussian needs scale"),
        ("processes:\n  - 5\n", "line 2: process 1 is 5; it must be a mapping"),
        ("noise: gaussian\nscale: no\n", "scale is 'no'"),
    ],
)
def test_a_file_is_refused_by_its_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "process.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["exact", str(file), "--delta", "1e-5"]) == 2
    assert message in capsys.readouterr().err


def test_a_file_and_options_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "process.yaml"
    file.write_text("noise: gaussian\nscale: 1\n", encoding="utf-8")
    assert main(["exact", str(file), "--delta", "1e-5", "--steps", "3"]) == 2
    assert "--steps is given beside" in capsys.readouterr().err
    assert main(["exact", "--delta", "1e-5"]) == 2
    assert "noise is missing" in capsys.readouterr().err
