"""Reads a certificate's function again, and compares its paths with the certificate's."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.errors import MechanismError
from auditor.sessions.session_mechanism import SessionMechanism
from dp_prover.certificates import certificate as written
from dp_prover.certificates.laws import LawWriter
from dp_prover.domains.data_sets import made_again
from dp_prover.domains.domains_as_data import largest_change
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Names, Trace
from dp_prover.language.analyst import RandomAnalyst, with_analyst
from dp_prover.language.trace import bounds_of, numbers, symbols, trace
from dp_prover.rules.masses import law_of


def retraced(proof: Any) -> str | None:
    """Describe how a function's paths differ from those of its certificate; None if they agree.

    Imports the function's module. The certificate must have been checked before.
    """
    try:
        source = PythonSource(proof["mechanism"], proof["parameters"], ("",))
        if "asked" in proof:
            played = replace(source, through=(SessionMechanism,)).drawer()
            mechanism = with_analyst(played, lambda session: RandomAnalyst.read(session, proof["asked"]))
        else:
            mechanism = source.drawer()
        if proof["rule"] == "calculation":
            return _refuted_again(proof, mechanism)
        domain = proof["domain"]
        listed = proof["listed"]
        bounds = () if listed else (tuple(map(Fraction, domain["low"])), tuple(map(Fraction, domain["high"])))
        names = Names(bounds_of(*bounds), largest_change(domain["relation"]), domain["integer"]) if bounds else Names()
        if listed:
            traces = [trace(mechanism, numbers(made_again(dataset)), names) for dataset in proof["data"]]
        else:
            traces = [trace(mechanism, symbols(names.bounds, domain["integer"]), names)]
    except (MechanismError, NotProvedError) as error:
        return f"the function cannot be read again: {error}"
    if (changed := _changed(names, proof)) is not None:
        return changed
    if proof["rule"] == "masses":
        laws: list[Any] = [law and written.law(law) for law in map(law_of, traces)]
        same = laws == proof["laws"] and None not in laws
        return None if same else "the probabilities of its outputs differ from those of the certificate"
    return None if _are_same(proof, traces, names) else "its paths differ from those of the certificate"


def _changed(names: Names, proof: Any) -> str | None:
    changed = sorted(
        name
        for name in names.read.keys() | proof["functions"].keys()
        if names.read.get(name) != proof["functions"].get(name)
    )
    return f"the source of {', '.join(changed)} has changed since the proof" if changed else None


def _refuted_again(proof: Any, mechanism: Mechanism) -> str | None:
    """Describe how the laws of a refutation differ from the function's; draws are named in the order in which they were traced."""
    for way in (slice(None), slice(None, None, -1)):
        names = Names()
        traces = [trace(mechanism, numbers(made_again(dataset)), names) for dataset in proof["data"][way]]
        if (changed := _changed(names, proof)) is not None:
            return changed
        laws = [json.loads(json.dumps(LawWriter(each).trace())) for each in traces]
        if laws[way] == proof["traces"] and written.noise(names) == proof["noise"]:
            return None
    return "its paths differ from those of the certificate"


def _are_same(proof: Any, traces: list[Trace], names: Names) -> bool:
    if written.noise(names) != proof["noise"] or len(traces) != len(proof["traces"]):
        return False
    if proof["rule"] == "gaussian":
        return bool(list(map(written.trace_of_gaussian, traces)) == proof["traces"])
    retraced = [written.TraceWriter(trace).trace() for trace in traces]
    pairs = zip(proof["traces"], retraced, strict=True)
    return all(
        a["terms"] == b["terms"] and _is_same_tree(a["tree"], b["tree"], a["outputs"], b["outputs"]) for a, b in pairs
    )


def _is_same_tree(certified: Any, tree: Any, outputs: Any, others: Any) -> bool:
    """Whether two trees agree, except where the certificate shows a branch to be impossible."""
    if certified.keys() == {"never"}:
        return True
    if certified.keys() == {"output"}:
        return bool("output" in tree and outputs[certified["output"]] == others[tree["output"]])
    if certified.keys() == {"draw", "ends"}:
        ends = [(label, share) for label, share, _ in certified["ends"]]
        return bool(
            certified["draw"] == tree.get("draw")
            and ends == [(label, share) for label, share, _ in tree["ends"]]
            and all(
                _is_same_tree(a[2], b[2], outputs, others) for a, b in zip(certified["ends"], tree["ends"], strict=True)
            )
        )
    return bool(
        certified.get("if") == tree.get("if") is not None
        and certified.keys() == tree.keys()
        and all(_is_same_tree(certified[key], tree[key], outputs, others) for key in certified.keys() - {"if"})
    )
