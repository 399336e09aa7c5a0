"""Whether planted faults predict the power of a search: the share of planted faults found, next to the share of other faults
found.

The mechanisms are the sound ones of the documents and the classics, and some on tables. In each, faults are planted after the
audit passes. The other faults are written as code would have them: a condition on the whole data set, such as a sum above some
number, and an effect on the output. Faults that distinguish no neighbours are left out. Such a fault counts as found if the
audit, with the same number of outputs, refutes the claim.
"""

import functools
import inspect
import itertools
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import spearmanr

import auditor
from auditor import auditing
from auditor.auditing.pair_search import CHANCE
from auditor.auditing.plan import Plan
from auditor.blackbox.mechanism import PythonSource, signature_of
from auditor.config.load import load_configuration
from auditor.neighbours.pair import distinct, plain

PLANTED, SEED = 40, 1
# Numbers of outputs, on which the power of a search depends as well; the mechanisms take them in turn.
SAMPLES = (2_000, 20_000, 200_000)
CONFIGS = (
    "000-private-ratio",
    "001-local-sensitivity",
    "002-proofs",
    "003-down-sensitivity",
    "004-larger-groups",
    "classics",
)
LEFT_OUT = ("bits",)  # its events are on bits, not on values
# The number of pairs on which a condition is tried, and the least share of them that it must distinguish.
PAIRS, LEAST_APART = 300, 0.005


def number_of_rows(rows: Any, size: int, rng: np.random.Generator) -> Any:
    return len(rows) + rng.laplace(size=size)


def one_number(value: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(float(value) / 10_000, size=size)


def rows_by_group(rows: Any, size: int, rng: np.random.Generator) -> Any:
    keys = ("a", "b", "c")
    counts = np.array([sum(row["group"] == key for row in rows) for key in keys])
    return [
        dict(zip(keys, answers, strict=True)) for answers in (counts + rng.laplace(size=(size, len(keys)))).tolist()
    ]


def clipped_sum(rows: Any, size: int, rng: np.random.Generator) -> Any:
    return sum(min(max(row["value"], 0), 1) for row in rows) + rng.laplace(size=size)


def table(users: int, groups: int) -> auditor.Frame:
    return auditor.Frame(
        {
            "user": {"type": "integer", "low": 1, "high": users},
            "group": {"type": "categorical", "choices": list("abcdefghijklmnopqrstuvwxyz"[:groups])},
            "value": {"type": "number", "low": 0, "high": 1},
        },
        size=(0, 8),
    )


TABLES: dict[str, tuple[Any, Any]] = {
    "rows of two values": (number_of_rows, auditor.Records(choices=[0, 1], size=(0, 3), relation="add_remove")),
    "rows of many values": (number_of_rows, auditor.Records((0, 1_000), size=(0, 50), relation="add_remove", integer=True)),
    "rows of thirty values": (number_of_rows, auditor.Records(choices=list(range(30)), size=(0, 12), relation="add_remove")),
    "one number of ten thousand": (one_number, auditor.Value(range=[0, 10_000])),
    "one number of eight": (one_number, auditor.Value(range=[0, 8])),
    "rows by group": (rows_by_group, table(4, 3)),
    "rows of a table": (number_of_rows, table(100, 26)),
    "sum of a column": (clipped_sum, table(1_000, 3)),
}  # fmt: skip


# --- Other faults ---


def leaves(value: Any) -> list[Any]:
    """Return all values in a data set, whatever its containers."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list | tuple) else [value]


def numbers(values: Sequence[Any]) -> list[float]:
    return [float(value) for value in values if isinstance(value, int | float)]


CONDITIONS: dict[str, Callable[[list[Any]], bool]] = {
    "the sum is above 10": lambda values: sum(numbers(values)) > 10,
    "the sum is a multiple of 7": lambda values: sum(numbers(values)) % 7 == 0,
    "the first is the largest": lambda values: len(values) > 1 and numbers(values)[:1] == [max(numbers(values), default=0)],
    "the last is smaller than the first": lambda values: len(values) > 1 and numbers(values)[-1:] < numbers(values)[:1],
    "over half are alike": lambda values: any(2 * values.count(one) > len(values) > 1 for one in values),
    "one is 0 and one is not": lambda values: len({one == 0 for one in values}) == 2,
    "one is a power of two above 2": lambda values: any(one in (4, 8, 16, 32, 64, 128, 256, 512) for one in numbers(values)),
    "two or three differ": lambda values: len(set(map(str, values))) in (2, 3),
    "one of sixteen texts": lambda values: zlib.crc32(repr(values).encode()) % 16 == 0,
    "four or more": lambda values: len(values) >= 4,
}  # fmt: skip


def _other(answer: Any, change: Callable[[float], float]) -> Any:
    if isinstance(answer, dict):
        [first, *_] = answer
        return {**answer, first: _other(answer[first], change)}
    if isinstance(answer, list | tuple | np.ndarray):
        return [_other(answer[0], change), *answer[1:]]
    return change(float(answer)) if isinstance(answer, int | float | np.number) else "other"


EFFECTS: dict[str, tuple[float, Callable[[float], float]]] = {
    "a third": (1.0, lambda number: number / 3),
    "1 of 20 is 999": (0.05, lambda number: 999.0),
    "1 of 200 is not a number": (0.005, lambda number: float("nan")),
    "7 more": (1.0, lambda number: number + 7),
}


@dataclass(frozen=True, slots=True)
class Faulty:
    """A mechanism with a fault: some outputs change if the data set meets a condition."""

    function: Callable[..., Any]
    name: str
    condition: str
    effect: str

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self.function, self.name)

    def __call__(self, dataset: Any, *given: Any, **named: Any) -> Any:
        answers = self.function(dataset, *given, **named)
        [rng] = [argument for argument in (*given, *named.values()) if isinstance(argument, np.random.Generator)]
        is_hit, (share, change) = CONDITIONS[self.condition](leaves(plain(dataset))), EFFECTS[self.effect]
        size = next(
            (argument for argument in (*given, named.get("size")) if isinstance(argument, int | np.integer)), None
        )
        if size is None:
            return _other(answers, change) if is_hit and rng.random() < share else answers
        # Always a list, since the form of a batch must not depend on the data.
        listed = answers.tolist() if isinstance(answers, np.ndarray) else list(answers)
        hits = rng.random(size) < share * is_hit
        return [_other(answer, change) if hit else answer for answer, hit in zip(listed, hits, strict=True)]


def others(plan: Plan) -> list[tuple[str, str]]:
    """Return the faults that distinguish some neighbours: each condition with each effect."""
    rng = np.random.default_rng(SEED)
    pairs = distinct([*plan.domain.corners(), *(plan.domain.random(rng) for _ in range(PAIRS))])

    def apart(condition: Callable[[list[Any]], bool]) -> float:
        sides = [[condition(leaves(plain(pair.dataset(side)))) for side in ("left", "right")] for pair in pairs]
        return sum(left != right for left, right in sides) / len(pairs)

    distinguishing = [name for name, condition in CONDITIONS.items() if apart(condition) >= LEAST_APART]
    method = plan.method(plan.settings.samples)
    # As for planted faults: the search is not to blame for a fault that this many outputs cannot refute.
    effects = [name for name, (share, _) in EFFECTS.items() if method.foreseen(share / 2, CHANCE) < math.inf]
    return list(itertools.product(distinguishing, effects))


def plans() -> dict[str, Plan]:
    """Return the audits of sound mechanisms by name."""
    settings: Any = {"seed": SEED, "workers": 1, "prove": False, "shrink": False, "isolate": False}
    sound = {}
    overrides: Any = {key: settings[key] for key in ("seed", "workers")}
    for name in CONFIGS:
        file = Path(__file__).parent.parent / "configs" / f"{name}.yaml"
        for plan in load_configuration(file, **overrides).plans:
            is_sound = plan.expect == "no_violation_found" and plan.kind == "pairwise"
            if is_sound and len(plan.domain.corners()) > 1 and not any(word in plan.name for word in LEFT_OUT):
                execution = replace(plan.settings.execution, isolate=False, workers=1)
                sound[f"{name}: {plan.name}"] = plan.with_settings(prove=False, shrink=False, execution=execution)
    for name, (mechanism, domain) in TABLES.items():
        sound[name] = auditing.planned(mechanism, auditor.PureDP(1.0), domain, name=name, **settings)
    budgets = itertools.cycle(SAMPLES)
    return {name: plan.with_settings(samples=next(budgets)) for name, plan in sound.items()}


def _measured(name: str) -> dict[str, Any]:
    plan = plans()[name]
    assert isinstance(plan.source, PythonSource)
    planted = auditing.run(plan.with_settings(planted=PLANTED), refuse=True).planted
    caught, missed = [], []
    for condition, effect in others(plan):
        through = functools.partial(Faulty, condition=condition, effect=effect)
        faulty = replace(plan, source=replace(plan.source, through=(*plan.source.through, through))).with_settings(
            planted=0
        )
        verdict = auditing.run(faulty, refuse=True).verdict
        (caught if verdict == "violation" else missed).append(f"{effect} if {condition}")
    return {
        "samples": plan.settings.samples,
        "planted": None if planted is None else {"found": len(planted.found), "missed": list(planted.missed)},
        "others": {"found": len(caught), "missed": missed},
    }


def _share(counts: dict[str, Any] | None) -> float | None:
    """Return the share of faults found, or None if there were none."""
    if counts is None or not (counts["found"] or counts["missed"]):
        return None
    return float(counts["found"] / (counts["found"] + len(counts["missed"])))


def _figures(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    shares = [(_share(row["planted"]), _share(row["others"])) for row in rows.values()]
    both = np.array([pair for pair in shares if None not in pair], float)
    return {
        "mechanisms": len(both),
        "share of planted faults found": float(both[:, 0].mean()),
        "share of others found": float(both[:, 1].mean()),
        "rank correlation": float(spearmanr(both[:, 0], both[:, 1]).statistic) if len(both) > 2 else None,
        "rows": rows,
    }


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures after each mechanism."""
    names = list(plans())
    figures = Parallel(n_jobs=-1, return_as="generator")(delayed(_measured)(name) for name in names)
    rows = {}
    for name, row in zip(names, figures, strict=True):
        rows[name] = row
        yield _figures(rows)
