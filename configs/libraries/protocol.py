"""What the programs of all libraries share: they answer requests, and tell the claim that the library itself makes.

A mechanism is a function of its parameters that returns the library's own claim, as in a configuration, and a function that
draws one output on a data set. Noise is the library's own: none of them takes its randomness from the seed of a request.
"""

import functools
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Claim = dict[str, float]
Made = tuple[Claim, Callable[[Any], Any]]


def serve(*mechanisms: Callable[..., Made]) -> None:
    """Answer requests to the mechanism named on the command line; with ``--claim``, tell its claim for the parameters given."""
    make = {mechanism.__name__: mechanism for mechanism in mechanisms}[sys.argv[1]]
    if sys.argv[2:3] == ["--claim"]:
        print(json.dumps(make(**json.loads(sys.argv[3]))[0]))
        return
    made: dict[str, Made] = {}

    def release(parameters: dict[str, Any], dataset: Any) -> Any:
        key = json.dumps(parameters)
        if key not in made:
            made[key] = make(**parameters)
        return made[key][1](dataset)

    answer(release)


def answer(release: Callable[[dict[str, Any], Any], Any], prepare: Callable[[int], None] = lambda seed: None) -> None:
    """Answer requests until the input ends, each by calls of ``release`` after ``prepare`` has had its seed."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        prepare(request["seed"])
        call = functools.partial(release, request["parameters"])
        answers.write("".join(f"{_one(call, request['dataset'])}\n" for _ in range(request["size"])))
        answers.flush()


def played(open_session: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes an output of a session: it plays the script of a data set against a new session on its data."""
    # The auditor plays scripts with Python's own library only. So an environment need not have its packages.
    sys.path.append(str(Path(__file__).parents[2]))
    from auditor.neighbours.scripts import ScriptedData
    from auditor.sessions.transcript import play_script

    return lambda dataset: play_script(lambda: open_session(dataset["data"]), ScriptedData.of(dataset["data"], dataset))


def _one(release: Callable[[Any], Any], dataset: Any) -> str:
    try:
        return json.dumps(_plain(release(dataset)), allow_nan=False)
    except Exception as error:  # an output like any other
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def _plain(output: Any) -> Any:
    if hasattr(output, "tolist"):  # of NumPy
        output = output.tolist()
    if isinstance(output, float) and not math.isfinite(output):
        return "NaN" if math.isnan(output) else "Infinity" if output > 0 else "-Infinity"
    if isinstance(output, list | tuple):
        return [_plain(item) for item in output]
    if isinstance(output, dict):
        return {key: _plain(item) for key, item in output.items()}
    if isinstance(output, BaseException):  # a refusal in a transcript
        return f"raises {type(output).__name__}: {output}"
    return output
