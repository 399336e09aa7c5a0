"""Document 003, "Beyond Local Sensitivity via Down Sensitivity": how tight Theorem 4 is, and how each loss affects it."""
