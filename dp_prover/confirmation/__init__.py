"""Runs the mechanism on numbers, and compares it with the paths that were traced."""
