"""Writes, checks and retraces certificates."""
