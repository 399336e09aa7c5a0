"""Computed answers to questions that the documents leave open: one folder per study, with its numbers, figures and report."""
