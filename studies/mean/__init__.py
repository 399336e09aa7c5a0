"""Document 001, "Local Sensitivity": a mean by five mechanisms, how far they err and the privacy that was bought."""
