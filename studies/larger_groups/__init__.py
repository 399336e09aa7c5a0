"""Document 004, "Better privacy guarantees for larger groups": the guarantee of Algorithm 1, and a mechanism with a better one."""
