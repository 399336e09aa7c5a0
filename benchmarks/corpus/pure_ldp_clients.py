"""Clients of pure-ldp; the claim is the ε that each is given."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

from protocol import Made, serve
from pure_ldp.frequency_oracles.unary_encoding import UEClient


def unary_encoding(d: int, optimised: bool, epsilon: float) -> Made:
    client = UEClient(epsilon, d, use_oue=optimised, index_mapper=lambda value: value)
    return {"epsilon": epsilon}, client.privatise


serve(unary_encoding)
