"""Checks a given certificate, and says in words what it proves."""

import json
from fractions import Fraction
from typing import Any

from auditor.bounds.digits import format_rounded_down
from auditor.errors import visible
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.certificates.retrace import retraced

MOST_LETTERS = 500  # shown of a certificate's text


def checked(certificate: Any, retrace: bool) -> str:
    """Check a certificate, and return in words what it proves or refutes.

    ``retrace`` also compares it with the function that it names.

    Raises ValueError if the certificate does not hold.
    """
    try:
        check_certificate(certificate)
    except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    claim = ", ".join(f"{name} = {repr(value).removesuffix('.0')}" for name, value in certificate["claim"].items())
    given = f" with {_shown(certificate['parameters'])}" if certificate["parameters"] else ""
    name = f"{_shown(certificate['mechanism'])}{given}"
    if certificate["rule"] == "calculation":
        what = f"{name} does not have {claim}: {_refuted_words(certificate)}"
    else:
        where = _shown(f"{_domain_words(certificate)}{_script_words(certificate)}")
        what = f"{name}, {claim}, over the reals, for {where}"
    if not retrace:
        return what
    if (wrong := retraced(certificate)) is not None:
        raise ValueError(wrong)
    return f"{what}; the function was read again and has the same paths"


def _shown(text: object) -> str:
    return visible(text, MOST_LETTERS)


def _refuted_words(proof: Any) -> str:
    """Say what a refutation shows: the quantity, and the data sets."""
    quantity = next(name for name in ("rho", "mu", "epsilon") if name in proof["claim"])
    bound = (
        "is infinite"
        if proof["bound"] == "infinite"
        else f"is at least {format_rounded_down(Fraction(proof['bound']))}"
    )
    sides = " and ".join(_shown(json.dumps(data.get("value", data.get("array")))) for data in proof["data"])
    return f"{quantity} {bound}, over the reals, on {sides}"


def _script_words(proof: Any) -> str:
    """Describe the scripts that a session's certificate covers."""
    if "asked" not in proof:
        return ""
    rounds = proof["asked"]["rounds"]
    if all(len(steps) == 1 for steps in rounds):
        return f"; asked one script of {len(rounds)} questions"
    return f"; asked any script of up to {len(rounds)} questions, one of {max(map(len, rounds))} each time"


def _domain_words(proof: Any) -> str:
    """Describe the data sets that a certificate covers, from the domain that it was checked against."""
    domain = proof["domain"]
    if "pairs" in domain:
        count = len(domain["pairs"])
        return "the pair given only" if count == 1 else f"these {count:,} pairs only"
    if "values" in domain:
        shown = f"one of {len(domain['values']):,} values; any two are neighbours"
    elif "records" in domain:
        low, high = domain["size"]
        shown = f"{low} to {high} records of {len(domain['records']):,} values; {domain['relation']}"
    else:
        [(kind, reach)] = domain["relation"].items()
        ends = sorted({(low, high) for low, high in zip(domain["low"], domain["high"], strict=True)})
        numbers = "integers" if domain["integer"] else "numbers"
        each = " or ".join(f"{low} to {high}" for low, high in ends)
        how = {"l1": f"by at most {reach} in L1", "linf": f"by at most {reach} each"}.get(kind, f"by {kind} {reach}")
        shown = f"{len(domain['low'])} {numbers} from {each}; neighbours differ {how}"
    alone = {"value": "a list"} if "records" in domain else {"value": ""}
    forms = " or ".join(filter(None, (alone.get(form, f"an {form}") for form in domain.get("forms", ()))))
    return f"all data sets of the domain: {shown}{f'; each as {forms}' if forms else ''}"
