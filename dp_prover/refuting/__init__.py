"""Refutes a claim by calculation: an event whose exact probabilities on two neighbours the claim does not allow."""
