"""OpenDP's measurements and transformations. The map gives the claim; the domain and the metric give the neighbours.

Objects are pickled as the JSON of OpenDP's ``serialize``. An object without JSON runs in the auditor's process, or is
imported again by name.
"""

import functools
import json
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from auditor.adapters import Adapted
from auditor.claims import ApproximateDP, Claim, PrivacyProfile, PureDP, RenyiDP, Sensitivity, ZeroConcentratedDP
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.libraries.adapting import DEFAULT_CELLS, DEFAULT_REACH, DEFAULT_SIZE, note_chosen_values
from auditor.neighbours.columns import FLOATS, INTEGERS
from auditor.neighbours.domains import Value
from auditor.neighbours.frames import Frame
from auditor.neighbours.numbers import Number
from auditor.neighbours.records import Records
from auditor.neighbours.totals import OneNumber, Totals, TotalsByKey

# Defaults for texts, and for the order of a Rényi divergence.
CHOICES, RENYI_ORDER = ("a", "b", "c"), 2.0
COMPOSED_CALLS = 64  # outputs of one composition
DELTAS = (0.1, 0.01, 1e-3, 1e-6)
OUTSIDE = "none of these"  # a text that is not a category
# An exchanged record counts twice in the metrics BY_RECORDS, and once in the metrics BY_CHANGES.
BY_RECORDS, BY_CHANGES = ("SymmetricDistance", "InsertDeleteDistance"), ("ChangeOneDistance", "HammingDistance")
NORMS_BY_DISTANCE = {"L1Distance": "l1", "L2Distance": "l2", "LInfDistance": "linf"}
BY_FRAMES = "FrameDistance"
KEYED = {"L01InfDistance": "l1", "L02InfDistance": "l2"}
FRAMES = "FrameDomain"
# OpenDP's names of number types: i32 is int32.
NUMBER_TYPES = {name[0] + re.sub(r"\D", "", name): name for name in (*FLOATS, *INTEGERS)}
DATE_RANGE = {"low": "2024-01-01", "high": "2024-12-31"}
BY_ID = re.compile(r"identifier: col\(\"(?P<id>.*?)\"\)")


def from_opendp(
    thing: Any,
    *,
    d_in: Any = None,
    size: Sequence[int] | None = None,
    range: Sequence[Number] | None = None,
    choices: Sequence[Any] | None = None,
    cells: int | None = None,
) -> Adapted:
    """Adapt a measurement, a transformation, or a query of the Context API.

    Args:
        thing: the object.
        d_in: how far apart neighbours are; one record, one person, or 1, by default.
        size: [low, high], how many records there are, if the domain does not say it.
        range: [low, high], the numbers that are tried, if the domain has no bounds.
        choices: the texts that are tried.
        cells: how many numbers or bits a vector has, if the domain does not say it.

    Raises InvalidInputError for anything else of OpenDP, and for an unsupported domain, metric or measure.
    """
    if (kind := type(thing).__name__) in ("Query", "LazyFrameQuery"):
        # The context states d_in. A LazyFrameQuery shows the attributes of polars, so its own are read by ``object``.
        query = object.__getattribute__(thing, "_query") if kind == "LazyFrameQuery" else thing
        d_in, thing = query._d_in if d_in is None else d_in, thing.resolve()
    if not hasattr(thing, "input_metric") or not hasattr(thing, "map"):
        raise InvalidInputError(
            f"{type(thing).__name__} of OpenDP has no privacy map; give a measurement, a transformation, or a query"
        )
    space = _Space(thing, {"d_in": d_in, "size": size, "range": range, "choices": choices, "cells": cells})
    is_query = hasattr(thing, "output_metric")
    try:
        neighbours, d_in = space.neighbours()
        claim = _sensitivity(thing, d_in) if is_query else _claim_of_measurement(thing, d_in, space.notes)
    except InvalidInputError:
        raise
    except Exception as error:  # of OpenDP's map or domain
        text = " ".join(str(error).split())
        raise InvalidInputError(f"OpenDP does not say what an audit of {thing.input_domain} needs: {text}") from error
    mechanism = Answer(thing) if is_query else Releases(thing)
    return Adapted(mechanism, claim, neighbours, (*note_chosen_values("OpenDP", space.chosen), *space.notes))


# --- The mechanism ---


@dataclass(frozen=True)
class OpenDPCall:
    """An OpenDP object as a function of a data set, which may consist of NumPy arrays or lists."""

    wrapped: Any

    @functools.cached_property
    def _form(self) -> Any:
        """The function that turns a data set into the types that OpenDP demands."""
        carrier = str(self.wrapped.input_domain.carrier_type)
        # If a domain of texts has a metric on records, the records are the lines of the text.
        return (
            "\n".join if carrier == "String" and _name(self.wrapped.input_metric) in BY_RECORDS else _converter(carrier)
        )

    def __reduce__(self) -> Any:
        features = tuple(sorted(import_module("opendp.mod").GLOBAL_FEATURES))
        try:
            return _unpickle, (type(self), _opendp().serialize(self.wrapped), features)
        except Exception as error:  # OpenDP raises plain exceptions
            raise pickle.PicklingError(f"OpenDP cannot write it as JSON: {error}") from None


class Releases(OpenDPCall):
    """A measurement that gives many outputs a call."""

    def __call__(self, dataset: Any, size: int) -> list[Any]:
        data, outputs = self._form(dataset), list[Any]()
        while self._composition is not None and size - len(outputs) >= COMPOSED_CALLS:
            outputs += self._composition(data)
        outputs += [self.wrapped(data) for _ in range(size - len(outputs))]
        return list(map(_collect, outputs))

    @functools.cached_property
    def _composition(self) -> Any:
        """The composition of COMPOSED_CALLS copies, one call of which takes a third of the time of so many calls.

        None if OpenDP cannot compose the measurement. On frames the composition of OpenDP 0.16.0 ends the process.
        """
        if _name(self.wrapped.input_domain) == FRAMES:
            return None
        try:
            return _opendp().c.make_composition([self.wrapped] * COMPOSED_CALLS)
        except Exception:  # of OpenDP
            return None


class Answer(OpenDPCall):
    """A transformation. Records and counts by key are returned as sorted rows, since their order does not matter."""

    def __call__(self, dataset: Any) -> Any:
        answer = _collect(self.wrapped(self._form(dataset)))
        in_rows = _name(self.wrapped.output_metric) in (*BY_RECORDS, *BY_CHANGES, *KEYED, BY_FRAMES)
        if not in_rows:
            return answer
        if isinstance(answer, dict):  # counts by key become that many rows of each key
            rows = [{"record": key} for key, count in answer.items() for _ in range(count)]
        else:
            rows = [record if isinstance(record, dict) else {"record": record} for record in answer]
        return sorted(rows, key=repr)


def _collect(output: Any) -> Any:
    """Return the rows of a lazy frame, which draws its noise at this moment, and anything else unchanged."""
    return output.collect().to_dicts() if hasattr(output, "collect") else output


def _opendp() -> Any:
    return import_module("opendp.prelude")


def _unpickle(kind: type[OpenDPCall], text: str, features: Sequence[str]) -> OpenDPCall:
    _opendp().enable_features(*features)
    return kind(_opendp().deserialize(text))


def _converter(carrier: str) -> Any:
    """Return the function that converts plain data to a carrier type, such as Vec<f64>.

    >>> _converter("Vec<f64>")([1, 2]), _converter("HashMap<String, i32>")({"a": np.int64(1)}), _converter("BitVector")([0, 1, 1])
    ([1.0, 2.0], {'a': 1}, b'`')
    """
    if carrier == "LazyFrame":
        return lambda frame: frame
    if carrier == "BitVector":
        return lambda bits: np.packbits(np.asarray(bits, dtype=bool)).tobytes()
    if match := re.fullmatch(r"Vec<(.*)>", carrier):
        each = _converter(match[1])
        return lambda records: [each(record) for record in records]
    if match := re.fullmatch(r"HashMap<(.*), (.*)>", carrier):
        key, value = _converter(match[1]), _converter(match[2])
        return lambda counts: {key(name): value(number) for name, number in counts.items()}
    return {"bool": bool, "String": str}.get(carrier, float if carrier.startswith("f") else int)


# --- The neighbours ---


class _Space:
    """An object's domain and metric; the values ``chosen`` and the ``notes`` taken in making neighbours of them."""

    def __init__(self, thing: Any, keywords: Mapping[str, Any]) -> None:
        self._thing, self._keywords = thing, keywords
        self._domain, self._metric = thing.input_domain, _name(thing.input_metric)
        self.chosen: dict[str, Any] = {}
        self.notes: list[str] = []

    def neighbours(self) -> tuple[Domain, Any]:
        """Return the neighbours and their distance, in the type that the map takes."""
        kind, metric, carrier = _name(self._domain), self._metric, str(self._domain.carrier_type)
        if kind == FRAMES:
            return self._frames()
        # The records of a text are its lines; see OpenDPCall.
        if metric in (*BY_RECORDS, *BY_CHANGES) and (kind == "VectorDomain" or carrier == "String"):
            return self._records()
        if kind == "VectorDomain" and metric in NORMS_BY_DISTANCE:
            return self._totals()
        if kind == "AtomDomain" and metric == "AbsoluteDistance":
            d_in = self._distance()
            low, high = self._ends(self._domain, d_in)
            return OneNumber((low, high), d_in), d_in
        if kind in ("AtomDomain", "BitVectorDomain") and metric == "DiscreteDistance":
            return self._one_of_all(kind), self._keywords["d_in"] or 1
        if kind == "MapDomain" and metric in KEYED:
            return self._by_key()
        raise InvalidInputError(
            f"OpenDP's {self._domain} with {self._thing.input_metric} is not supported; give `neighbours`, and call the "
            "measurement in a function of your own"
        )

    def _records(self) -> tuple[Domain, int]:
        is_vector = _name(self._domain) == "VectorDomain"
        element, sized = (self._domain.element_domain, self._domain.size) if is_vector else (self._domain, None)
        by_records = self._metric in BY_RECORDS
        # A data set of known size has neighbours of the same size only: one record is exchanged, which counts twice.
        twice = by_records and sized is not None
        d_in = 1 + twice if self._keywords["d_in"] is None else self._keywords["d_in"]
        if isinstance(d_in, bool) or not isinstance(d_in, int) or d_in < 1 + twice:
            raise InvalidInputError(
                f"d_in is {d_in!r}; for {self._domain} it must be an integer of at least {1 + twice}"
            )
        size = (sized, sized) if sized is not None else self._keyword_or("size", DEFAULT_SIZE)
        domain = Records(
            **self._record(element),
            size=size,
            relation="add_remove" if by_records and sized is None else "substitute",
            distance=d_in // 2 if twice else d_in,
            container="list",
        )
        return domain, d_in

    def _frames(self) -> tuple[Domain, Any]:
        d_in = 1 if self._keywords["d_in"] is None else self._keywords["d_in"]
        rows = int(_total_rows(d_in)) if isinstance(d_in, list) else int(d_in)
        low, high = self._keyword_or("size", DEFAULT_SIZE)
        by_id = BY_ID.search(str(self._thing.input_metric))
        owner = by_id["id"] if by_id else None
        series = {name: self._domain.get_series_domain(name) for name in self._domain.columns if name != owner}
        most = getattr(self._domain.get_margin([]), "max_length", None)
        domain = Frame(
            {
                name: self._column(of_name) | ({"null": True} if of_name.nullable else {})
                for name, of_name in series.items()
            },
            size=(low, high) if most is None else (min(low, most), min(high, most)),
            id=owner,
            rows_per_person=(1, 3) if owner else None,
            relation="substitute" if "ChangeOne" in str(self._thing.input_metric) else "add_remove",
            order="shuffled",
            distance=rows,
            form="lazy",
        )
        if self._metric == BY_FRAMES:  # a bound on the rows, or persons, of the whole frame
            return domain, [import_module("opendp.extras.polars").Bound(by=[], per_group=rows)]
        return domain, rows

    def _column(self, series: Any) -> dict[str, Any]:
        kind = str(series).rpartition(", ")[2].rstrip(")")
        if kind in NUMBER_TYPES:
            low, high = self._ends(series.element_domain)
            dtype = NUMBER_TYPES[kind]
            return {"type": "number" if dtype in FLOATS else "integer", "low": low, "high": high, "dtype": dtype}
        if kind == "str":
            return {"type": "categorical", "choices": self._texts()}
        if kind == "bool":
            return {"type": "boolean"}
        if kind == "date":
            return {"type": "date", **DATE_RANGE}
        raise InvalidInputError(f"OpenDP's column {series} is not supported; give `neighbours`")

    def _record(self, element: Any) -> dict[str, Any]:
        """Return the keywords of Records for the values of a record."""
        kind = str(element.carrier_type)
        if kind == "bool":
            return {"choices": [False, True]}
        if kind == "String":
            return {"choices": self._texts()}
        if kind.startswith("f") and element.nan:
            self.notes.append("OpenDP's domain allows NaN, and no record that was tried is NaN")
        return {"record": self._ends(element), "integer": not kind.startswith("f")}

    def _totals(self) -> tuple[Domain, Number]:
        d_in, atom = self._distance(), self._domain.element_domain
        cells = self._domain.size or self._keyword_or("cells", DEFAULT_CELLS)
        integer = not str(atom.carrier_type).startswith("f")
        values, norm = self._ends(atom, d_in), NORMS_BY_DISTANCE[self._metric]
        contribution = {norm: int(d_in) if integer else d_in}
        return Totals(cells=cells, values=values, contribution=contribution, integer=integer), d_in

    def _by_key(self) -> tuple[Domain, tuple[Number, ...]]:
        key, number = re.findall(r"HashMap<(.*), (.*)>", str(self._domain.carrier_type))[0]
        integer = not number.startswith("f")
        number_type = int if integer else float
        keys, total, each = self._keyword_or("d_in", (1, number_type(1), number_type(1)))
        d_in = (int(keys), number_type(total), number_type(each))
        low, high = self._keyword_or("range", (0, DEFAULT_REACH))
        names = self._texts() if key == "String" else list(self._keywords["choices"] or (0, 1, 2))
        contribution = {"l0": d_in[0], KEYED[self._metric]: d_in[1], "linf": d_in[2]}
        return TotalsByKey(names, (number_type(low), number_type(high)), contribution=contribution), d_in

    def _one_of_all(self, kind: str) -> Domain:
        if kind == "BitVectorDomain":
            return self._bits()
        match str(self._domain.carrier_type):
            case "bool":
                return Value([False, True])
            case "String":
                return Value([*self._texts(), OUTSIDE])
            case carrier:
                low, high = self._ends(self._domain)
                return Value(range=(float(low), float(high)) if carrier.startswith("f") else (low, high))

    def _bits(self) -> Domain:
        """Return bit vectors of weight 0, of weight 1, and of the largest weight."""
        weight = re.search(r"weight=(\d+)", str(self._domain))
        cells = self._keyword_or("cells", 8 * max(1, -(-2 * int(weight[1]) // 8)) if weight else 8)
        most = min(int(weight[1]), cells) if weight else cells
        full = [0] * (cells - most) + [1] * most
        single = [[int(i == j) for j in range(cells)] for i in range(cells)] if most else []
        vectors = [[0] * cells, full, full[::-1], *single]
        return Value([list(bits) for bits in dict.fromkeys(map(tuple, vectors))])

    def _distance(self) -> Number:
        """Return d_in of a metric on numbers, in the type that the metric takes."""
        d_in = self._keyword_or("d_in", 1)
        if isinstance(d_in, bool) or not isinstance(d_in, int | float) or not 0 < d_in < float("inf"):
            raise InvalidInputError(f"d_in is {d_in!r}; it must be a number above 0")
        return float(d_in) if str(self._thing.input_distance_type).startswith("f") else int(d_in)

    def _ends(self, atom: Any, reach: Number = 1) -> tuple[Number, Number]:
        """Return the ends of the numbers that are tried."""
        kind = str(atom.carrier_type)
        number_type = float if kind.startswith("f") else int
        far = max(DEFAULT_REACH, 10 * reach)
        low, high = atom.bounds or self._keyword_or("range", (0 if kind.startswith("u") else -far, far))
        return number_type(low), number_type(high)

    def _texts(self) -> list[Any]:
        if self._keywords["choices"] is None and (categories := _categories_of(self._thing)):
            return categories
        return list(self._keyword_or("choices", CHOICES))

    def _keyword_or(self, keyword: str, value: Any) -> Any:
        """Return the value of a keyword; if it is None, return ``value`` and record it in ``chosen``."""
        given = self._keywords[keyword]
        return self.chosen.setdefault(keyword, value) if given is None else given


def _name(part: Any) -> str:
    """Return the name of a domain or metric without its arguments."""
    match = re.match(r"\w+", str(part))
    return match[0] if match else ""


def _categories_of(thing: Any) -> list[Any]:
    """Return the categories of an object, which its domain does not hold. Return [] if it has none."""
    try:
        serialized = json.loads(_opendp().serialize(thing))
    except Exception:  # some objects have no JSON
        return []
    return next(_lists_named("categories", serialized), [])


def _lists_named(key: str, data: Any) -> Iterator[list[Any]]:
    """Yield the lists that are values of a key, anywhere in JSON."""
    if isinstance(data, dict) and isinstance(data.get(key), list):
        yield data[key]
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _lists_named(key, inner)


def _total_rows(bounds: Sequence[Any]) -> float:
    """Return how many rows a distance of FrameDistance changes. Raises InvalidInputError if it bounds only groups."""
    for bound in bounds:
        if not bound.by and bound.per_group is not None:
            return float(bound.per_group)
    raise InvalidInputError("OpenDP bounds the rows of each group only; give a `claim`")


# --- The claim ---


def _claim_of_measurement(measurement: Any, d_in: Any, notes: list[str]) -> Claim:
    """Return the claim that the map makes for neighbours at distance d_in."""
    whole, d_out = str(measurement.output_measure).replace("()", ""), measurement.map(d_in)
    inner = re.fullmatch(r"Approximate\((.*)\)", whole)
    measure, delta = (inner[1], min(1.0, d_out[1])) if inner else (whole, 0.0)
    value = d_out[0] if inner else d_out
    match measure, inner is not None:
        case "MaxDivergence", True:
            return ApproximateDP(value, delta)
        case "MaxDivergence", False:
            return PureDP(value)
        case "SmoothedMaxDivergence", _:
            points = [(value.epsilon(at), min(1.0, at + delta)) for at in DELTAS]
            return PrivacyProfile([point for point in points if point[0] < float("inf")])
        case "ZeroConcentratedDivergence", True:
            return _claim_of_measurement(_opendp().c.make_zCDP_to_approxDP(measurement), d_in, notes)
        case "ZeroConcentratedDivergence", False:
            return ZeroConcentratedDP(value)
        case "RenyiDivergence", False:
            notes.append(f"OpenDP claims a curve of Rényi divergences; order {RENYI_ORDER:g} was put to the test")
            return RenyiDP(RENYI_ORDER, value(RENYI_ORDER))
        case _:
            raise InvalidInputError(f"OpenDP's measure {whole} is not supported; give a `claim`")


def _sensitivity(transformation: Any, d_in: Any) -> Claim:
    """Return the sensitivity that the map states for neighbours at distance d_in."""
    metric, d_out = _name(transformation.output_metric), transformation.map(d_in)
    if metric in ("AbsoluteDistance", "L1Distance", *BY_RECORDS):
        return Sensitivity(float(d_out))
    if metric in NORMS_BY_DISTANCE:
        return Sensitivity(float(d_out), NORMS_BY_DISTANCE[metric])  # type: ignore[arg-type]
    if metric == "L01InfDistance":
        return Sensitivity(float(d_out[1]))
    if metric == BY_FRAMES and not BY_ID.search(str(transformation.output_metric)):
        return Sensitivity(_total_rows(d_out))
    if metric in BY_CHANGES:
        return Sensitivity(2 * float(d_out))  # a changed record counts as one removed and one added
    raise InvalidInputError(
        f"{transformation.output_metric} of a transformation's output is not supported; chain a transformation that returns numbers"
    )
