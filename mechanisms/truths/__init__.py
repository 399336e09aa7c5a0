"""The exact output distributions of specimens, in terms of :mod:`mechanisms.exact`."""
