"""Document 003, "Beyond Local Sensitivity via Down Sensitivity": how sharp Theorem 4 is, and what each loss does to it."""
