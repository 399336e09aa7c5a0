"""Interprets a mechanism's source, once for each of its paths."""
