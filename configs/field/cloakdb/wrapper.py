"""cloakdb 1.0.0: its strategy of differential privacy, on one cell; the engine is not loaded."""

import secrets

from stand_ins import load_submodules_only

load_submodules_only("cloakdb", "cloakdb.core", "cloakdb.strategies")
from cloakdb.core.context import TransformationContext  # noqa: E402
from cloakdb.strategies import differential_privacy  # noqa: E402

[Strategy] = [
    kind
    for kind in vars(differential_privacy).values()
    if isinstance(kind, type) and kind.__module__ == differential_privacy.__name__
]


# The salt is a secret of whoever configures the engine, so each output has another one.
def cell(data, **arguments):
    context = TransformationContext("people", "income", 0, secrets.token_hex())
    return Strategy().transform(float(data), context, **arguments)
