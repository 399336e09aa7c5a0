"""Certificates over more data sets than can be enumerated are refused at once, before anything is built from them."""

from typing import Any

import pytest
from honest_files import in_time

from dp_prover import checked
from dp_prover.certificates.checker import domain as checked_domain


def certificate(**domain: Any) -> dict[str, Any]:
    numbers = {"format": 1, "bound": 1, "listed": True, "claim": {"epsilon": 1}, "domain": domain}
    texts = {"digest": "", "rule": "masses", "mechanism": "m"}
    return (
        numbers | texts | {key: {} for key in ("parameters", "functions", "noise", "laws")} | {"data": [], "pairs": []}
    )


HUGE = 10**9
DOMAINS = (
    *(
        {"records": [0, 1], "size": size}
        for size in ([0, HUGE], [HUGE, HUGE], [0, 10**4000], [0, 40], [-HUGE, 3], [3, 0])
    ),
    *({"records": [0], "size": size} for size in ([0, HUGE], [0, 0.5], [0, True], ["0", "1"])),
    *(
        {"low": [0] * cells, "high": [high] * cells, "integer": True}
        for cells, high in ((1, HUGE), (9, HUGE), (40, 1), (2, 10**30))
    ),
)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: str(domain)[:60])
def test_a_certificate_of_many_data_sets_is_refused_at_once(domain: dict[str, Any]) -> None:
    whole = {"relation": {"l1": 1} if "low" in domain else "add_remove", "forms": ["value"], **domain}
    with in_time(5), pytest.raises((ValueError, ArithmeticError)):
        checked_domain.data(whole)
    with in_time(5), pytest.raises(ValueError, match=r"certificate|Error"):
        checked(certificate(**whole), retrace=False)


@pytest.mark.parametrize("reach", [10**9, 10**30, 10**7])
@pytest.mark.parametrize("kind", ["linf", "l1"])
def test_differences_of_many_steps_are_refused_at_once(kind: str, reach: int) -> None:
    domain = {"low": [0, 0], "high": [1, 1], "integer": True, "relation": {kind: reach}}
    with in_time(5), pytest.raises((ValueError, ArithmeticError)):
        checked_domain.differences(domain, {"linear": False, "part": 0}, True)
