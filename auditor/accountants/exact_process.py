"""Exact numbers, computed in a process of their own: an accountant chooses the parameters, and some take a long time."""

import base64
import functools
import json
import math
import os
import pickle
import sys
import time

from auditor.accountants.exact_numbers import exact_number
from auditor.accountants.target import States
from auditor.blackbox.host import IMPORT_SECONDS
from auditor.blackbox.process import Process as OtherProcess
from auditor.blackbox.process import ProcessFailure, borrow_process
from auditor.errors import InvalidInputError
from auditor.exact import Composition, Interval, Process

# What a process is lent by, and what it writes once it can answer.
_KEY, _READY = "exact numbers", b"ready"


def exact_within(
    limit: float, process: Process | Composition, states: States, argument: float | None, precision: float
) -> Interval:
    """Return the interval of ``exact_number``; one of all numbers if it takes longer than ``limit`` seconds, or ends the process.

    Raises InvalidInputError as ``exact_number``.
    """
    try:
        return _computed(limit, process, states, argument, precision)
    except ProcessFailure as failure:
        return Interval(0.0, math.inf, f"not computed: {failure.message()}")


@functools.lru_cache(maxsize=4_096)
def _computed(
    limit: float, process: Process | Composition, states: States, argument: float | None, precision: float
) -> Interval:
    """Return what another process computes. Raises ProcessFailure, which is not remembered, and InvalidInputError."""
    request = base64.b64encode(pickle.dumps((process, states, argument, precision))) + b"\n"
    with borrow_process(_KEY, _start) as other:
        if other.loaded[0] != _READY:
            other.receive_lines(1, time.monotonic() + max(limit, IMPORT_SECONDS), wait=True)
            other.loaded = _READY, (False, False)
        other.send(request)
        line, _ = other.receive_lines(1, time.monotonic() + limit, wait=True)
    answer = json.loads(line)
    if "error" in answer:
        raise InvalidInputError(answer["error"])
    return Interval(float(answer["low"]), float(answer["high"]), answer["how"])


def _start() -> OtherProcess:
    return OtherProcess("auditor.accountants.exact_process:serve")


def serve() -> None:
    """Answer each line of the standard input, until it ends. What is asked comes from the auditor that started this process."""
    import scipy.special  # noqa: F401 - so that no first question waits for it

    answers = os.fdopen(1, "wb", buffering=0)
    answers.write(_READY + b"\n")
    for line in sys.stdin.buffer:
        try:
            answer = exact_number(*pickle.loads(base64.b64decode(line))).to_dict()
        except InvalidInputError as error:
            answer = {"error": str(error)}
        answers.write(json.dumps(answer).encode() + b"\n")
