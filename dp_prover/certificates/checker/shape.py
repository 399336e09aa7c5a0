"""Checks the shape of a certificate: each record has exactly the keys of its kind, so nothing in it has two meanings."""

from typing import Any

from dp_prover.certificates.checker.exact_numbers import Q, need

EACH = {
    "format",
    "digest",
    "rule",
    "mechanism",
    "parameters",
    "functions",
    "claim",
    "bound",
    "domain",
    "listed",
    "data",
}
SHIFTED = {"noise", "traces", "pairs"}
RULES = {"alignment": SHIFTED, "gaussian": SHIFTED, "masses": {"noise", "laws", "pairs"}}
CLAIMS = ({"epsilon"}, {"epsilon", "delta"}, {"rho"}, {"mu"}, {"order", "epsilon"})
LISTS = ({"values", "forms"}, {"pairs", "forms"}, {"records", "size", "relation", "forms"})
VECTORS = {"low", "high", "integer", "relation"}
SIDES, PART = {"sides", "traces"}, {"part", "linear"}
CELLS_OF = SIDES | PART | {"cells", "assumed", "names"}
PAIRS = {"alignment": CELLS_OF, "gaussian": CELLS_OF, "masses": SIDES | {"epsilons"}}
CELL = {"left", "right", "shifts"}
CELLS = ({"left", "never"}, CELL, CELL | {"weight"}, CELL | {"rows", "implied", "excluded"})


def keys(record: Any, allowed: Any, what: str) -> None:
    """Require that a record has exactly the keys of an allowed kind."""
    need(type(record) is dict and any({*record} == kind for kind in allowed), f"the keys of {what}")


def shape(proof: Any) -> None:
    """Raise ValueError if some record has other keys than its kind."""
    rule, domain, listed = proof["rule"], proof["domain"], proof["listed"]
    need(rule in RULES and type(listed) is bool, "a rule")
    keys(proof, [EACH | RULES[rule], EACH | RULES[rule] | {"asked"}], "the certificate")
    keys(proof["claim"], CLAIMS, "the claim")
    need(min(map(Q, proof["claim"].values())) >= 0 and Q(proof["bound"]) >= 0, "numbers of at least 0")
    keys(domain, [*LISTS, VECTORS | {"forms"}] if listed else [VECTORS], "the domain")
    lists = [domain[key] for key in ("values", "pairs", "records", "size", "low", "high") if key in domain]
    if "low" in domain:
        need(type(domain["relation"]) is dict and type(domain["integer"]) is bool, "a relation")
        [(kind, reach)] = domain["relation"].items()
        lists += [reach] if kind == "each" else [reach, *reach] if kind == "steps" else []
        need(kind != "each" or len(reach) == 2, "two ends")
        need(kind != "steps" or all(len(step) == len(domain["low"]) for step in reach), "steps of this length")
    need(all(type(values) is list for values in lists), "lists")
    if "low" in domain:
        ends = list(zip(domain["low"], domain["high"], strict=True))
        need(ends and all(Q(low) <= Q(high) for low, high in ends), "ranges")
    for entry in proof["pairs"]:
        keys(entry, [PAIRS[rule]], "a pair")
        need(rule != "gaussian" or not entry["names"], "names of Gaussian noise")
        for cell in entry.get("cells", ()):
            keys(cell, CELLS, "a cell")
    for trace in proof.get("traces", ()):
        keys(trace, [{"tree", "outputs", "terms"}], "a trace")
