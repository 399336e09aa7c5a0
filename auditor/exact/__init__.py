"""Exact numbers for what is known of a process: intervals that hold δ(ε), ε(δ), Rényi divergences and μ, without outputs."""
