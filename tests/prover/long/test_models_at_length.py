"""Each model against the real function, in every context."""

import pytest
from modelled import MODELS, blocks, disagreements


@pytest.mark.parametrize("entry", sorted(MODELS))
def test_models_do_as_the_real_functions_in_every_context(entry: str):
    assert disagreements(MODELS[entry], contexts=99, seeds=12) == []


def test_blocks_do_as_python_in_every_context():
    assert disagreements(list(blocks()), contexts=99, seeds=12) == []
