"""pypantera 1.0.2: one word of a vocabulary of four, whose embeddings are given in place of a file."""

import functools
import importlib
import types

import numpy as np
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("pandas", "sklearn", "src.utils.vocab")
load_submodules_only("src", "src.utils")
VECTORS = {"near": [0.0, 0.0], "next": [1.0, 0.0], "far": [0.0, 4.0], "away": [40.0, 0.0]}
EMBEDDINGS = {word: np.array(vector) for word, vector in VECTORS.items()}


@functools.cache
def _mechanism(module, name, epsilon, **more):
    text = importlib.import_module("src.AbstractTextObfuscationDPMechanism")
    text.Vocab = lambda path: types.SimpleNamespace(embeddings=dict(EMBEDDINGS))
    kind = getattr(importlib.import_module(f"src.{module}"), name)
    return kind({"embPath": "", "epsilon": epsilon, **more})


def moved(data, module, name, epsilon, **more):
    mechanism = _mechanism(module, name, epsilon, **more)
    return mechanism.processText(mechanism.noisyEmb([data]))


def chosen(data, module, name, epsilon, **more):
    return _mechanism(module, name, epsilon, **more).processText([data])
