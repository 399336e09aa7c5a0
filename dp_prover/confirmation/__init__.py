"""Runs the mechanism itself on numbers, and compares it with its paths."""
