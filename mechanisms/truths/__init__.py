"""How the outputs of specimens are distributed, as distributions of :mod:`mechanisms.exact`."""
