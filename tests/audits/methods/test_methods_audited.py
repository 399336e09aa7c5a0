"""Every method on mechanisms whose true loss is known: bounds exceed it no more often than allowed, and come near it."""

import functools

import auditor
from benchmarks._mechanisms import laplace


def test_a_sound_audit_keeps_its_bound() -> None:
    """Bold rules of the halves guess on a tail; that of all outputs guesses further out, where few outputs prove little."""
    for seed in (15, 24, 37, 171):
        result = auditor.audit(
            functools.partial(laplace, epsilon=0.83),
            auditor.PureDP(1.0),
            [(0, 1)],
            samples=20_000,
            seed=seed,
            planted=0,
        )
        assert result.bound is not None
        assert result.bound.value > 0.6
