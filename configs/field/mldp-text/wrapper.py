"""mldp-text 0.1.2: one word of a vocabulary of four, whose embeddings are given; what loads others is stood in for."""

import functools
import types

import numpy as np
from stand_ins import stand_in_for

stand_in_for("faiss", "sklearn", "gensim", "numba", "pandas", "nltk")
import nltk  # noqa: E402
import numba  # noqa: E402

nltk.data = types.SimpleNamespace(find=lambda name: name)
numba.njit, numba.prange = (lambda **options: lambda function: function), range
from mldp_text import mechanisms  # noqa: E402


class Embeddings:
    """As gensim's KeyedVectors."""

    index_to_key = ("near", "next", "far", "away")
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 4.0], [40.0, 0.0]])

    def __init__(self):
        self.key_to_index = {word: index for index, word in enumerate(self.index_to_key)}

    def __len__(self):
        return len(self.index_to_key)

    def __contains__(self, word):
        return word in self.key_to_index

    def __getitem__(self, word):
        return self.vectors[self.key_to_index[word]]


@functools.cache
def _mechanism(name, epsilon):
    more = {"max_inter_dist": 40.0, "min_inter_dist": 1.0} if name == "TruncatedGumbel" else {}
    vocabulary = list(Embeddings.index_to_key)
    return getattr(mechanisms, name)(
        epsilon, embedding_matrix=Embeddings(), dim=2, use_faiss=False, vocab=vocabulary, **more
    )


def word(data, name, epsilon):
    return _mechanism(name, epsilon).replace_word(data)
