"""Batches of an epoch: what a mechanism receives is drawn from the data, and is not the data itself."""

import auditor
import dp_prover


def number_of_steps(batches, rng):
    return len(batches) + rng.laplace()


def test_a_record_that_is_in_three_batches_is_not_proved_to_be_in_one() -> None:
    records = auditor.Records((0, 1), size=(0, 3), container="list")
    once = dp_prover.prove(number_of_steps, auditor.PureDP(1.0), records, seconds=5)
    assert once.holds
    thrice = auditor.Epoch(records, "ordered", batch_size=1, epochs=3)
    for domain in (thrice, auditor.Valid(thrice, lambda records: True)):
        attempt = dp_prover.prove(number_of_steps, auditor.PureDP(1.0), domain, seconds=5)
        assert not attempt.holds
        assert attempt.certificate is None
