"""Exact divergences of known mass functions and densities, each with a bound or an estimate of its numerical error."""
