"""Exact arithmetic of the rules: affine forms, linear programs, logarithms with certified rounding, and bounds on divergences."""
