"""dp-diffractor 0.2.1: what one worker does to a word of a list of nine; the embeddings that make the list are not loaded."""

import types

import numpy as np
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("tqdm", "nltk", "diffractor.downloader", "diffractor.utils")
load_submodules_only("diffractor")
from diffractor import core  # noqa: E402

core.nltk = types.SimpleNamespace(
    corpus=types.SimpleNamespace(stopwords=types.SimpleNamespace(words=lambda language: []))
)
WORDS = [f"word {number}" for number in range(9)]


def rewritten(data, method, epsilon, seeded):
    config = core.DiffractorConfig(method=method, epsilon=epsilon, gamma=2)
    entropy = config.seed if seeded else None
    [seed] = np.random.SeedSequence(entropy).spawn(1)
    core._RESOURCES = {
        "list": WORDS,
        "mapping": {word: number for number, word in enumerate(WORDS)},
        "config": config,
        "rng": np.random.default_rng(seed),
    }
    return core.apply_privacy_mechanism(f"word {data}", epsilon)
