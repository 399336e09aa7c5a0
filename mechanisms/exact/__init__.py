"""The truth, where a mass function or a density is known: exact divergences, each with the error it was computed to."""
