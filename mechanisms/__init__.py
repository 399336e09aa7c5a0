"""Specimens: the mechanisms of five published documents, each sound one beside its faulty twin.

A mechanism here takes (dataset, size, rng, parameters) and returns ``size`` outputs along the first axis.
"""
