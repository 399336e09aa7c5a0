"""Proof rules: from the paths on two neighbours to a bound."""
