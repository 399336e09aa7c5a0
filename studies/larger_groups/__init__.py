"""Document 004, "Better privacy guarantees for larger groups": what Algorithm 1 guarantees, and a mechanism that does better."""
