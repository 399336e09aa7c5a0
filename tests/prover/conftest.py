"""Attempts at proofs in tests: refutations are tried where a test is about them."""

from collections.abc import Iterator

import pytest

import dp_prover

# What these ask is whether something is proved that is not so. An attempt that ends without a proof would go on to a refutation,
# which test_refutations and test_both_ends ask for.
OF_PROOFS_ALONE = {
    *("test_batches", "test_benchmarked_proofs", "test_deceptions", "test_deceptions_of_domains", "test_forgeries"),
    *("test_models", "test_ordinary", "test_proving", "test_session_proofs", "test_top_k", "test_widths"),
}


@pytest.fixture(autouse=True)
def _proofs_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave a refutation no time in the modules that are about proofs alone."""
    if request.module.__name__.rpartition(".")[2] in OF_PROOFS_ALONE:
        monkeypatch.setattr(dp_prover, "OF_SECONDS", 0.0)
        monkeypatch.setattr(dp_prover, "AT_LEAST", 0.0)
    yield
