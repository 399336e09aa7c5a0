"""What of real libraries can be audited without a wrapper, where `make libraries` has installed them. Nothing is drawn here."""

import functools

import pytest
from adapters.libraries import library

from auditor.sweeps.building import NotBuilt, SweptObject, swept_objects
from auditor.sweeps.library_table import table_of

# Those that cannot be, of constructors with a claim. Everything else that a pattern finds is audited.
LEFT_OUT = {
    "opendp": {
        *("make_private_expr", "make_private_lazyframe", "make_stable_expr", "make_stable_lazyframe"),
        *("make_cdf", "make_consistent_b_ary_tree", "make_quantiles_from_counts", "make_proof_link"),
        *("make_fully_adaptive_composition", "make_population_amplification"),
    },
    "pure_ldp": {"FreqOracleClient"},
    "diffprivlib": {"DPMachine", "DPMechanism", "TruncationAndFoldingMixin", "Vector"},
    "pydp": {"NumericalMechanism"},
}
MODULES = {
    "opendp": ("opendp.prelude", "opendp"),
    "pure_ldp": ("pure_ldp.frequency_oracles", "pure-ldp"),
    "diffprivlib": ("diffprivlib.models", "diffprivlib"),
    "pydp": ("pydp", "python-dp"),
}


@functools.cache
def built(name: str) -> list[SweptObject | NotBuilt]:
    library(*MODULES[name])
    return list(swept_objects(table_of(name)))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_all_but_a_few_constructors_are_audited(name: str) -> None:
    reasons = {one.constructor: one.reason for one in built(name) if isinstance(one, NotBuilt)}
    assert reasons.keys() == LEFT_OUT[name], reasons
    assert all(reasons.values())


def test_the_constructors_of_opendp_are_counted() -> None:
    audited = {one.constructor for one in built("opendp") if isinstance(one, SweptObject)}
    modules = table_of("opendp").found()
    by_module = [modules[constructor] for constructor in audited]
    assert by_module.count("opendp.measurements") >= 15
    assert by_module.count("opendp.transformations") >= 40
