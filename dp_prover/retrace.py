"""A certificate against the function: it is read again, and must give the paths that the certificate has."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from auditor.blackbox.mechanism import PythonSource
from auditor.errors import MechanismError
from auditor.sessions.played import Played
from dp_prover import certificate as written
from dp_prover.analyst import RandomAnalyst, asking
from dp_prover.data_sets import made_again
from dp_prover.domains_as_data import moved_by
from dp_prover.lazy import NotProvedError
from dp_prover.masses import law_of
from dp_prover.run import Names
from dp_prover.trace import Trace, bounds_of, numbers, symbols, trace


def retraced(proof: Any) -> str | None:
    """Read the function of a certificate again, which imports its module. Returns in words how its paths differ, or None.

    The certificate was checked before.
    """
    try:
        source = PythonSource(proof["mechanism"], proof["parameters"], ("",))
        if "asked" in proof:
            played = replace(source, through=(Played,)).drawer()
            mechanism = asking(played, lambda session: RandomAnalyst.read(session, proof["asked"]))
        else:
            mechanism = source.drawer()
        domain = proof["domain"]
        listed = proof["listed"]
        bounds = () if listed else (tuple(map(Fraction, domain["low"])), tuple(map(Fraction, domain["high"])))
        names = Names(bounds_of(*bounds), moved_by(domain["relation"]), domain["integer"]) if bounds else Names()
        if listed:
            traces = [trace(mechanism, numbers(made_again(one)), names) for one in proof["data"]]
        else:
            traces = [trace(mechanism, symbols(names.bounds, domain["integer"]), names)]
    except (MechanismError, NotProvedError) as error:
        return f"the function cannot be read again: {error}"
    if names.read != proof["functions"]:
        changed = sorted(
            name
            for name in names.read.keys() | proof["functions"].keys()
            if names.read.get(name) != proof["functions"].get(name)
        )
        return f"the source of {', '.join(changed)} has changed since the proof"
    if proof["rule"] == "masses":
        laws = [law_of(one) for one in traces]
        found: list[Any] = [law and written.law(law) for law in laws]
        same = found == proof["laws"] and None not in found
        return None if same else "the probabilities of its outputs differ from those of the certificate"
    return None if _are_same(proof, traces, names) else "its paths differ from those of the certificate"


def _are_same(proof: Any, traces: list[Trace], names: Names) -> bool:
    if written.noise(names) != proof["noise"] or len(traces) != len(proof["traces"]):
        return False
    if proof["rule"] == "gaussian":
        return bool([written.trace_of_gaussian(one) for one in traces] == proof["traces"])
    again = [written.Written(one).trace() for one in traces]
    pairs = zip(proof["traces"], again, strict=True)
    return all(
        one["terms"] == other["terms"] and _is_same_tree(one["tree"], other["tree"], one["outputs"], other["outputs"])
        for one, other in pairs
    )


def _is_same_tree(said: Any, found: Any, outputs: Any, others: Any) -> bool:
    """Whether two trees are the same, but for paths that the certificate shows to be impossible."""
    if said.keys() == {"never"}:
        return True
    if said.keys() == {"output"}:
        return bool("output" in found and outputs[said["output"]] == others[found["output"]])
    if said.keys() == {"draw", "ends"}:
        ends = [(label, share) for label, share, _ in said["ends"]]
        return bool(
            said["draw"] == found.get("draw")
            and ends == [(label, share) for label, share, _ in found["ends"]]
            and all(
                _is_same_tree(one[2], other[2], outputs, others)
                for one, other in zip(said["ends"], found["ends"], strict=True)
            )
        )
    return bool(
        said.get("if") == found.get("if") is not None
        and said.keys() == found.keys()
        and all(_is_same_tree(said[key], found[key], outputs, others) for key in said.keys() - {"if"})
    )
