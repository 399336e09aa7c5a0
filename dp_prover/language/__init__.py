"""Evaluates the source of a mechanism along all of its paths."""
