"""Specimens: the mechanisms of five published documents and classics of the literature, each sound one next to a faulty twin.

A mechanism here takes (dataset, size, rng, parameters) and returns ``size`` outputs along the first axis.
"""
