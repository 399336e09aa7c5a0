"""`auditor exact`: an interval that contains the exact number of a process, which options or a file describe."""

import argparse
import json
import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from pathlib import Path
from typing import Any

from auditor.cli.options import AS_EXPECTED
from auditor.config.yaml_text import read_yaml_file
from auditor.errors import InvalidInputError
from auditor.exact import Composition, Interval, delta_interval, epsilon_interval, mu_interval, renyi_interval
from auditor.exact.process_mapping import PROCESS_KEYS, process_from_dict


def exact(options: argparse.Namespace) -> int:
    """Print the interval that was asked for."""
    composition = _composition(options)
    interval, what, at = _answer(composition, options)
    if options.json:
        print(json.dumps({"quantity": what, **interval.to_dict()}, ensure_ascii=False))
        return AS_EXPECTED
    print(f"{what}{at} {_ends(interval)}")
    print(f"by: {interval.how}")
    return AS_EXPECTED


def _ends(interval: Interval) -> str:
    """Write an interval with as many digits as tell its ends apart, at least seven; the low end rounded down, the high end up."""
    if interval.low == interval.high:
        return f"is {_rounded(interval.low, 17, ROUND_HALF_EVEN)}"
    width, low, high = interval.high - interval.low, "", ""
    for digits in range(7, 18):
        low, high = _rounded(interval.low, digits, ROUND_FLOOR), _rounded(interval.high, digits, ROUND_CEILING)
        if math.isinf(width) or float(high) - float(low) <= 1.5 * width:
            break
    return f"lies in [{low}, {high}]"


def _rounded(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "∞"
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal_from_float(value)):.{digits}g}"


def _answer(composition: Composition, options: argparse.Namespace) -> tuple[Interval, str, str]:
    precision = options.precision
    if options.delta is not None:
        return epsilon_interval(composition, options.delta, precision=precision), "ε", f" at δ = {options.delta:g}"
    if options.epsilon is not None:
        return delta_interval(composition, options.epsilon, precision=precision), "δ", f" at ε = {options.epsilon:g}"
    if options.order is not None:
        return renyi_interval(composition, options.order), "D", f" of order {options.order:g}"
    return mu_interval(composition), "μ", ""


def _composition(options: argparse.Namespace) -> Composition:
    given = {key: value for key in PROCESS_KEYS if (value := getattr(options, key, None)) is not None}
    if options.process is None:
        if "noise" not in given:
            raise InvalidInputError("noise is missing; write --noise, or name a file that describes the process")
        return Composition((process_from_dict(given),))
    if given:
        name = next(iter(given))
        raise InvalidInputError(
            f"--{name} is given beside {options.process}; the file describes the process, so leave it out"
        )
    return read_composition(options.process)


def read_composition(file: Path) -> Composition:
    """Return what a YAML file describes: the keys of one process, or a list of such mappings under ``processes``.

    Raises InvalidInputError, with file and line.
    """
    document = read_yaml_file(file)
    data: Any = document.data
    if not isinstance(data, Mapping) or not data:
        raise InvalidInputError(
            f"{file} is not a mapping; write the keys of a process, or `processes` with a list of them"
        )
    if "processes" not in data:
        with document.naming():
            return Composition((process_from_dict(data),))
    if len(data) > 1 or not isinstance(data["processes"], list):
        raise InvalidInputError(f"{document.at('processes')}: processes must be a list of mappings, and the only key")
    processes = []
    for i, item in enumerate(data["processes"]):
        with document.naming("processes", i):
            if not isinstance(item, Mapping):
                raise InvalidInputError(f"process {i + 1} is {item!r}; it must be a mapping")
            processes.append(process_from_dict(item))
    with document.naming("processes"):
        return Composition(tuple(processes))
