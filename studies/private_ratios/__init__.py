"""Document 000, "Privately bounding local sensitivity": the errors of the private ratios, and the privacy that they provide."""
