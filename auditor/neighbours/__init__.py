"""Pairs of neighbouring data sets, on which a claim may break; the domains of these pairs; and the search for pairs."""
